//===- CompletionCommand.cpp - gpucc completion ---------------------------===//
#include "Commands.h"

#include <cstdio>

using namespace gpucc::tool;

namespace {
/// Long options; those of the empty group are not for people.
void addOptions(const CLI::App &app, std::string &options) {
  for (const CLI::Option *option :
       app.get_options([](const CLI::Option *o) { return !o->get_group().empty(); }))
    for (const std::string &name : option->get_lnames())
      options += "--" + name + " ";
}

/// Every long option of every subcommand, read from the declarations themselves.
int print(const CLI::App &root) {
  std::printf("# bash completion of gpucc:  eval \"$(gpucc completion)\"\n");
  std::printf(
      "_gpucc() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words\n  case ${COMP_WORDS[1]} in\n");
  std::string names;
  for (const CLI::App *command : root.get_subcommands([](const CLI::App *) { return true; })) {
    if (command->get_name().empty())
      continue;
    names += command->get_name() + " ";
    std::string options;
    addOptions(*command, options);
    for (const CLI::App *group : command->get_subcommands([](const CLI::App *) { return true; }))
      addOptions(*group, options);
    std::printf("  %s) words=\"%s\" ;;\n", command->get_name().c_str(), options.c_str());
  }
  std::printf("  *) words=\"%s--help --version\" ;;\n  esac\n", names.c_str());
  std::printf("  if [ \"$COMP_CWORD\" = 1 ] || [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "
              "\"$words\" -- \"$cur\"));\n"
              "  else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n}\ncomplete -o filenames -F "
              "_gpucc gpucc\n");
  return 0;
}
} // namespace

Command gpucc::tool::addCompletion(CLI::App &app) {
  app.footer("\nexample\n  eval \"$(gpucc completion)\"");
  CLI::App *self = &app;
  return [self] { return print(*self->get_parent()); };
}
