/** `rollcall proposal`: acts that wait for a second operator. */
import {
  approveProposal,
  declineProposal,
  listProposals,
  operatorWithToken,
  showProposal,
} from '@rollcall/admin/approvals/proposals'
import type { Command } from 'commander'
import { diffLines } from '../approval-text.ts'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  const proposal = program
    .command('proposal')
    .description('acts that wait for a second operator, where ROLLCALL_TWO_PERSON is set')
  withToken(proposal.command('list'))
    .description('list proposals, the newest first')
    .option('--all', 'also those that are decided or have lapsed')
    .addHelpText('after', '\nExample: rollcall proposal list')
    .action(runList)
  withToken(proposal.command('show'))
    .description('print what would change, and to those who may decide what is confidential in it')
    .argument('<id>', 'id of the proposal')
    .addHelpText('after', '\nExample: rollcall proposal show 0c0e9a4e-52a7-4f0e-8a50-3f1a4d0d3c11')
    .action(runShow)
  withToken(proposal.command('approve'))
    .description('do the act now, and print what it answers; who has proposed it cannot')
    .argument('<id>', 'id of the proposal')
    .addHelpText('after', '\nExample: rollcall proposal approve 0c0e9a4e-52a7-4f0e-8a50-3f1a4d0d3c11')
    .action(runApprove)
  withToken(proposal.command('decline'))
    .description('the act is not done; who has proposed it cannot decide')
    .argument('<id>', 'id of the proposal')
    .addHelpText('after', '\nExample: rollcall proposal decline 0c0e9a4e-52a7-4f0e-8a50-3f1a4d0d3c11')
    .action(runDecline)
}

const withToken = (command: Command): Command =>
  withJson(command).option(
    '--token-file <file>',
    'file with your token of the admin API; - for standard input (default: ROLLCALL_OPERATOR_TOKEN)',
  )

interface Options extends OutputOptions {
  readonly tokenFile?: string
}

/** The user of a shell alone is nobody whom a second person could be told from. */
async function asOperator<Input, Result>(
  useCase: (needs: Needs, input: Input) => Promise<Result>,
  input: Input,
  { tokenFile }: Options,
): Promise<Result> {
  const token = tokenFile === undefined ? null : await readInput(tokenFile)
  return withDatabase(async ({ config: { limits }, ...needs }) => {
    const caller = token === null ? needs.caller : await operatorWithToken(needs, token)
    if (caller === null) {
      throw new CommandError('an operator is needed: set ROLLCALL_OPERATOR_TOKEN, or give --token-file')
    }
    return useCase({ ...needs, limits, caller, operator: caller.name }, input)
  })
}

type Needs = Parameters<typeof approveProposal>[0]

const COLUMNS = ['id', 'act', 'state', 'proposed_by', 'proposed_at', 'lapses_at', 'decided_by']

async function runList({ all, ...options }: Options & { readonly all?: true }): Promise<void> {
  stopRequest()
  const rows = await asOperator(listProposals, all ? {} : { state: 'waiting' as const }, options)
  const cells = rows.map(({ id, act, state, proposed_by, proposed_at, lapses_at, decided_by }) => ({
    id,
    act,
    state,
    proposed_by,
    proposed_at,
    lapses_at,
    decided_by,
  }))
  print(options, rows, table(COLUMNS, cells, 'no proposals'))
}

async function runShow(id: string, options: Options): Promise<void> {
  stopRequest()
  const shown = await asOperator(showProposal, { id }, options)
  const { diff, confidential, role } = shown
  const lines = [
    ...factLines(shown),
    `decided by    a role: ${role ?? '-'}`,
    ...diffLines(diff),
    ...Object.entries(confidential ?? {}).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ]
  print(options, shown, lines.join('\n'))
}

async function runApprove(id: string, options: Options): Promise<void> {
  stopRequest()
  const done = await asOperator(approveProposal, { id }, options)
  const { proposal, result } = done
  const lines = [
    `done: ${proposal.act}, proposed by ${proposal.proposed_by}`,
    JSON.stringify(result, null, 2),
    'Secrets in it are not stored and cannot be shown again.',
  ]
  print(options, done, lines.join('\n'))
}

async function runDecline(id: string, options: Options): Promise<void> {
  stopRequest()
  const declined = await asOperator(declineProposal, { id }, options)
  print(options, declined, `declined: ${declined.act}, proposed by ${declined.proposed_by}`)
}

type Shown = Awaited<ReturnType<typeof showProposal>>

const factLines = ({ act, state, proposed_by, proposed_at, lapses_at, decided_by, failure }: Shown) => [
  `act           ${act}`,
  `state         ${state}${failure === null ? '' : `: ${failure}`}`,
  `proposed by   ${proposed_by} at ${proposed_at}`,
  `lapses        ${lapses_at}`,
  ...(decided_by === null ? [] : [`decided by    ${decided_by}`]),
]
