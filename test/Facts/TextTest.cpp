// Text: sizes in the unit a person would choose, formatted text of any length.
#include "gpucc/Facts/Text.h"
#include <gtest/gtest.h>

using namespace gpucc;

TEST(Text, SizesTakeTheLargestUnitOfWhichThereIsOne) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(1024), "1.00 KiB");
  EXPECT_EQ(bytesText(-3 * 1048576.0), "-3.00 MiB");
  EXPECT_EQ(bytesText(80 * 1073741824.0), "80.00 GiB");
  EXPECT_EQ(bytesText(2048 * 1099511627776.0), "2048.00 TiB");
}

TEST(Text, IsNeverCutShort) {
  std::string longText(5000, 'x'), out = "a";
  print(out, "%s %d", longText.c_str(), 7);
  EXPECT_EQ(out, "a" + longText + " 7");
  EXPECT_EQ(format("%.1f %%", 12.34), "12.3 %");
  EXPECT_EQ(format("%s", ""), "");
}
