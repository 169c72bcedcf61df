/** `rollcall export`: prints the configuration of a database as a file. */
import { adminCommand } from '../admin-command.ts'

export const COMMAND_TREE = adminCommand(async () => (await import('@rollcall/admin/configuration/apply')).exportConfiguration, {
  about: 'print the registries, the participants and their grants as a file for rollcall apply',
  notes: 'No secret stands in it: no client secret, and no credentials for callbacks. docs/configuration.md explains the file.',
  examples: ['> rollcall.yaml'],
  text: async (configuration) => {
    const { stringify } = await import('yaml')
    return stringify(configuration, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd()
  },
})
