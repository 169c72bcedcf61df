/** `rollcall grant`: what each participant may do in each registry. */

import {
  expiringGrants,
  explainGrant,
  GRANT_TEMPLATES,
  grantTemplate,
  listGrants,
  revokeGrant,
  setGrant,
} from '@rollcall/admin/grants/grants'
import { proposeGrant } from '@rollcall/admin/grants/proposal'
import { type Command, Option } from 'commander'
import { stringify } from 'yaml'
import { ask } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { explanationText, grantRows, proposalText } from '../grant-text.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'
import { readYaml } from '../yaml.ts'

export function addCommand(program: Command): void {
  const grant = program
    .command('grant')
    .description('manage what participants may do in each registry: without a grant nothing')
  addSet(grant)
  withJson(grant.command('list'))
    .description('list the grants that are not revoked, past and future ones included')
    .option('--participant <sender_id>', 'those of one participant')
    .option('--namespace <namespace>', 'those in one registry')
    .addHelpText('after', '\nExample: rollcall grant list --namespace civil')
    .action(runList)
  withPlace(grant.command('show'))
    .description('print the grants of a participant in a registry, as files for rollcall grant set')
    .addHelpText('after', '\nExample: rollcall grant show spmis.example.org civil')
    .action(runShow)
  withPlace(grant.command('explain'))
    .description('say what the grant in force means: what may be asked, what may be seen, and what not')
    .addHelpText('after', '\nExample: rollcall grant explain spmis.example.org civil')
    .action(runExplain)
  withPlace(grant.command('propose'))
    .description('propose a narrower grant, from what the participant has used; it is printed, not set')
    .option('--days <days>', 'days of accounts, until now', wholeNumber(1, 3_660), 30)
    .addHelpText('after', '\nExample: rollcall grant propose spmis.example.org civil --days 90 > narrower.yaml')
    .action(runPropose)
  withJson(grant.command('expiring'))
    .description('list the grants that have ended, or end soon')
    .option('--days <days>', 'how soon', wholeNumber(0, 36_500), 30)
    .addHelpText('after', '\nExample: rollcall grant expiring --days 90')
    .action(runExpiring)
  withPlace(grant.command('revoke'))
    .description('revoke every grant of a participant in a registry; within a second it may do nothing there')
    .addHelpText('after', '\nExample: rollcall grant revoke spmis.example.org civil')
    .action(runRevoke)
}

function addSet(grant: Command): void {
  withPlace(grant.command('set'))
    .description('grant, in place of what is granted now; servers use the change within a second')
    .option('--file <file>', 'the grant in YAML or JSON; - for standard input')
    .addOption(
      new Option('--template <name>', 'a grant that is often made')
        .choices(GRANT_TEMPLATES.map(({ name }) => name))
        .conflicts('file'),
    )
    .option('--beside', 'leave the grants of other times; this one begins at its valid_from')
    .addHelpText(
      'after',
      `
Templates:
${GRANT_TEMPLATES.map(({ name, description }) => `  ${name.padEnd(18)}${description}`).join('\n')}

docs/grants.md explains every member of a grant.

Example: rollcall grant set spmis.example.org civil --file grant.yaml
Example: rollcall grant set spmis.example.org civil --template eligibility`,
    )
    .action(runSet)
}

function withPlace(command: Command): Command {
  return withJson(command)
    .argument('<sender_id>', 'sender_id of the participant')
    .argument('<namespace>', 'namespace of the registry')
}

interface SetOptions extends OutputOptions {
  readonly file?: string
  readonly template?: string
  readonly beside?: true
}

/** What a file holds; the admin function checks it. */
type Terms = Parameters<typeof setGrant>[1]['terms']

async function runSet(
  sender_id: string,
  namespace: string,
  { file, template, beside, ...options }: SetOptions,
): Promise<void> {
  stopRequest()
  const set = (terms: Terms) => ask(setGrant, { sender_id, namespace, beside, terms })
  const added = await (template === undefined
    ? setFile(file, set)
    : set(await ask(grantTemplate, { namespace, template })))
  const { version, valid_from, valid_until } = added
  const until = valid_until === null ? '' : ` until ${valid_until}`
  const text = `granted to ${sender_id} in ${namespace} from ${valid_from}${until}; rollcall grant explain says what it means. Its version is ${version}, in one count of all grants`
  print(options, added, [text, ...suspendedText(added)].join('\n'))
}

/** Subscriptions that ended with the grant that allowed them. */
const suspendedText = ({ suspended }: { readonly suspended: number }): readonly string[] =>
  suspended === 0
    ? []
    : [`${suspended} of its subscriptions ${suspended === 1 ? 'is' : 'are'} suspended: not granted any more`]

async function setFile<Result>(file: string | undefined, set: (terms: Terms) => Promise<Result>): Promise<Result> {
  if (file === undefined) throw new CommandError('--file or --template is needed')
  const { value, refusedWithLine } = await readYaml(file, '--file')
  return refusedWithLine(() => set(value as Terms), ['terms'])
}

interface ListOptions extends OutputOptions {
  readonly participant?: string
  readonly namespace?: string
}

const COLUMNS = ['sender_id', 'namespace', 'version', 'basis', 'operations', 'valid_from', 'valid_until']

async function runList({ participant, namespace, ...options }: ListOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listGrants, { sender_id: participant, namespace })
  print(options, rows, table(COLUMNS, grantRows(rows), 'no grants yet; rollcall grant set makes one'))
}

async function runShow(sender_id: string, namespace: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listGrants, { sender_id, namespace })
  if (rows.length === 0) throw new CommandError(`${sender_id} has no grant in ${namespace}`)
  const texts = rows.map(
    ({ version, valid_from, terms }) => `# version ${version}, from ${valid_from}\n${stringify(terms)}`,
  )
  print(options, rows, texts.join('\n').trimEnd())
}

async function runExplain(sender_id: string, namespace: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const explained = await ask(explainGrant, { sender_id, namespace })
  print(options, explained, explanationText(explained))
}

async function runPropose(
  sender_id: string,
  namespace: string,
  { days, ...options }: OutputOptions & { readonly days: number },
): Promise<void> {
  stopRequest()
  const proposal = await ask(proposeGrant, { sender_id, namespace, days })
  print(options, proposal, proposalText(sender_id, namespace, proposal))
}

async function runExpiring({ days, ...options }: OutputOptions & { readonly days: number }): Promise<void> {
  stopRequest()
  const rows = await ask(expiringGrants, { days })
  print(options, rows, table(COLUMNS, grantRows(rows), `no grant ends within ${days} days`))
}

async function runRevoke(sender_id: string, namespace: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const done = await ask(revokeGrant, { sender_id, namespace })
  const grants = done.revoked === 1 ? '1 grant is' : `${done.revoked} grants are`
  const text = `${grants} revoked: ${sender_id} may do nothing in ${namespace}`
  print(options, done, [text, ...suspendedText(done)].join('\n'))
}
