/** `rollcall grant`: manages what each participant may do in each registry. */
import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import { explanationText, grantsText, grantTable, proposedGrantText, revokedText } from '../grant-text.ts'

const loadGrantActs = () => import('@rollcall/admin/grants/grants')

export const COMMAND_TREE: CommandGroup = {
  about: 'manage what participants may do in each registry: without a grant nothing',
  commands: {
    set: lazyCommand(
      'grant, in place of what is granted now; servers use the change within a second',
      () => import('./grant-set.ts'),
    ),
    list: adminCommand(async () => (await loadGrantActs()).listGrants, {
      about: 'list the grants that are not revoked, past and future ones included',
      options: { sender_id: '--participant <sender_id>' },
      examples: ['--namespace civil'],
      text: grantTable('no grants yet; rollcall grant set makes one'),
    }),
    show: adminCommand(async () => (await loadGrantActs()).listGrants, {
      about: 'print the grants of a participant in a registry, as files for rollcall grant set',
      args: 'sender_id namespace',
      examples: ['spmis.example.org civil'],
      text: grantsText,
    }),
    explain: adminCommand(async () => (await loadGrantActs()).explainGrant, {
      about: 'say what the grant in force means: what may be asked, what may be seen, and what not',
      args: 'sender_id namespace',
      examples: ['spmis.example.org civil'],
      text: explanationText,
    }),
    propose: adminCommand(async () => (await import('@rollcall/admin/grants/proposal')).proposeGrant, {
      about: 'propose a narrower grant, from what the participant has used; it is printed, not set',
      args: 'sender_id namespace',
      options: { days: { default: 30 } },
      examples: ['spmis.example.org civil --days 90 > narrower.yaml'],
      text: proposedGrantText,
    }),
    expiring: adminCommand(async () => (await loadGrantActs()).listExpiringGrants, {
      about: 'list the grants that have ended, or end soon',
      options: { days: { default: 30, help: 'how soon, in days' } },
      examples: ['--days 90'],
      text: (rows, { days }) => grantTable(`no grant ends within ${days} days`)(rows),
    }),
    revoke: adminCommand(async () => (await import('@rollcall/admin/grants/grant-changes')).revokeGrant, {
      about: 'revoke every grant of a participant in a registry; within a second it may do nothing there',
      args: 'sender_id namespace',
      examples: ['spmis.example.org civil'],
      text: revokedText,
    }),
  },
}
