/** `rollcall registry`: manages the registries of this server. */
import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'
import { removalCommand } from './removal.ts'

const loadRegistryChanges = () => import('./registry-change.ts')

export const COMMAND_TREE: CommandGroup = {
  about: 'manage the registries of this server',
  commands: {
    add: lazyCommand(
      'add a registry, mounted at its namespace; a running server has it within a second',
      async () => (await loadRegistryChanges()).addRegistryCommand,
    ),
    set: lazyCommand(
      'change a registry; servers use the change within a second',
      async () => (await loadRegistryChanges()).setRegistryCommand,
    ),
    list: adminCommand(async () => (await import('@rollcall/admin/registries/registries')).listRegistries, {
      about: 'list the registries with the number of their records',
      examples: ['--json'],
      text: tableFormatter(
        'namespace kind sender_id aliases time_zone majority_age primary environment demo records',
        'no registries yet; rollcall registry add makes one',
        ({ records, primary_identifiers, ...row }) => ({
          ...row,
          primary: Object.values(primary_identifiers),
          records: Object.entries(records)
            .map(([type, count]) => `${count} ${type}`)
            .join(', '),
        }),
      ),
    }),
    remove: removalCommand('namespace', {
      load: async () => (await import('@rollcall/admin/removal')).removeRegistry,
      about: 'remove a registry with its records, grants, subscriptions and stored messages',
      notes: `
Audit entries stay, and can be verified as before. Nobody is notified. A hold that is in force stops it. To rename a
registry, add a second one, import the records into it, and remove the first one when the participants have changed.`,
      example: 'old-civil',
    }),
  },
}
