/** A tree of commands. Each command is loaded when the command line names it. */
import type { Command } from 'commander'

/** A command without commands below it. */
export interface LeafCommand {
  /** One line for the list of commands. */
  readonly about: string
  /** Gives the command its arguments, its options and its work. */
  readonly defineCommand: (command: Command) => Promise<void> | void
}

/** A command that only has commands below it. */
export interface CommandGroup {
  readonly about: string
  readonly commands: Readonly<Record<string, LeafCommand | CommandGroup>>
}

/** A command in a module of its own, which is loaded when the command line names it. */
export const lazyCommand = (about: string, load: () => Promise<Pick<LeafCommand, 'defineCommand'>>): LeafCommand => ({
  about,
  defineCommand: async (command) => (await load()).defineCommand(command),
})

/** Adds a tree of commands; only those that the command line names are defined. */
export async function addCommandTree(
  command: Command,
  tree: LeafCommand | CommandGroup,
  isNamed: (name: string) => boolean,
): Promise<void> {
  command.description(tree.about)
  if ('defineCommand' in tree) return tree.defineCommand(command)
  for (const [name, below] of Object.entries(tree.commands)) {
    const child = command.command(name).description(below.about)
    if ('commands' in below || isNamed(name)) await addCommandTree(child, below, isNamed)
  }
}
