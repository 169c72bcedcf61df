/** `rollcall purpose`: manages the purposes that consents may name. */
import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'

const loadPurposeActs = () => import('@rollcall/admin/consents/purposes')

export const COMMAND_TREE: CommandGroup = {
  about: 'manage the purposes that consents may name; grants name some of them',
  commands: {
    add: adminCommand(async () => (await loadPurposeActs()).addPurpose, {
      about: 'add a purpose, or change its text',
      args: 'code',
      examples: ["eligibility --text 'Eligibility for social assistance'"],
      text: ({ code }) => `consents may name the purpose ${code}, where a grant names it`,
    }),
    list: adminCommand(async () => (await loadPurposeActs()).listPurposes, {
      about: 'list the purposes',
      examples: [''],
      text: tableFormatter('code text', 'no purposes yet; rollcall purpose add makes one'),
    }),
    remove: adminCommand(async () => (await loadPurposeActs()).removePurpose, {
      about: 'remove a purpose that no grant names',
      args: 'code',
      examples: ['research'],
      text: ({ code }) => `${code} is removed`,
    }),
  },
}
