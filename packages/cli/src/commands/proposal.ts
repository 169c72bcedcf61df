/** `rollcall proposal`: lists and decides about acts that wait for a second operator. */
import type { showProposal } from '@rollcall/admin/approvals/proposals'
import { adminCommand } from '../admin-command.ts'
import { diffLinesText } from '../approval-text.ts'
import type { CommandGroup } from '../command-tree.ts'
import type { CommandDeps } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { tableFormatter } from '../output.ts'

const loadProposalActs = () => import('@rollcall/admin/approvals/proposals')

/**
 * Returns the operator of the token as the caller.
 * @throws CommandError there is no token: without it, the command cannot tell two users of the same shell apart
 */
async function requireOperator(deps: CommandDeps, { tokenFile }: Readonly<Record<string, unknown>>) {
  if (tokenFile !== undefined) {
    const operator = await (await loadProposalActs()).requireOperatorOfToken(deps, await readTokenFile(tokenFile))
    return { caller: { kind: 'operator' as const, operator } }
  }
  if (deps.caller.kind === 'operator') return { caller: deps.caller }
  throw new CommandError('an operator is needed: set ROLLCALL_OPERATOR_TOKEN, or give --token-file')
}

const readTokenFile = async (path: unknown): Promise<string> => (await import('../input.ts')).readFileOrStdin(String(path))

const TOKEN_FILE_OPTION = {
  '--token-file <file>': 'file with your token of the admin API; - for standard input (default: ROLLCALL_OPERATOR_TOKEN)',
} as const

const PROPOSAL_ID_COMMAND_SETTINGS = {
  args: 'id',
  more: TOKEN_FILE_OPTION,
  examples: ['0c0e9a4e-52a7-4f0e-8a50-3f1a4d0d3c11'],
  deps: requireOperator,
} as const

export const COMMAND_TREE: CommandGroup = {
  about: 'acts that wait for a second operator, where ROLLCALL_TWO_PERSON is set',
  commands: {
    list: adminCommand(async () => (await loadProposalActs()).listProposals, {
      about: 'list proposals, the newest first',
      options: { state: null },
      more: { '--all': 'also those that are decided or have lapsed', ...TOKEN_FILE_OPTION },
      examples: [''],
      deps: requireOperator,
      input: ({ all }) => (all ? {} : { state: 'waiting' as const }),
      text: tableFormatter('id act state proposed_by proposed_at lapses_at decided_by', 'no proposals'),
    }),
    show: adminCommand(async () => (await loadProposalActs()).showProposal, {
      ...PROPOSAL_ID_COMMAND_SETTINGS,
      about: 'print what would change, and to those who may decide what is confidential in it',
      text: shownProposalText,
    }),
    approve: adminCommand(async () => (await loadProposalActs()).approveProposal, {
      ...PROPOSAL_ID_COMMAND_SETTINGS,
      about: 'do the act now, and print what it answers; who has proposed it cannot',
      text: ({ proposal, result }) =>
        [
          `done: ${proposal.act}, proposed by ${proposal.proposed_by}`,
          JSON.stringify(result, null, 2),
          'Secrets in it are not stored and cannot be shown again.',
        ].join('\n'),
    }),
    decline: adminCommand(async () => (await loadProposalActs()).declineProposal, {
      ...PROPOSAL_ID_COMMAND_SETTINGS,
      about: 'the act is not done; who has proposed it cannot decide',
      text: ({ act, proposed_by }) => `declined: ${act}, proposed by ${proposed_by}`,
    }),
  },
}

function shownProposalText(shown: Awaited<ReturnType<typeof showProposal>>): string {
  const { act, state, proposed_by, proposed_at, lapses_at, decided_by, failure } = shown
  const { diff, confidential, role } = shown
  return [
    `act           ${act}`,
    `state         ${state}${failure === null ? '' : `: ${failure}`}`,
    `proposed by   ${proposed_by} at ${proposed_at}`,
    `lapses        ${lapses_at}`,
    ...(decided_by === null ? [] : [`decided by    ${decided_by}`]),
    `decided by    a role: ${role ?? '-'}`,
    ...diffLinesText(diff),
    ...Object.entries(confidential ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ].join('\n')
}
