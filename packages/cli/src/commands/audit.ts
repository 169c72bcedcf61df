/** `rollcall audit`: the accounts of access, for operators and for the people whose data they are about. */
import { ACCOUNT_KINDS, listAccounts, listEmergencies, reviewEmergency } from '@rollcall/admin/accounts/list'
import { auditPerson } from '@rollcall/admin/accounts/person-looks'
import { type Command, Option } from 'commander'
import { accountRows, COLUMNS, emergencyText, personText } from '../account-text.ts'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { instant, personOf, wholeNumber, withPerson } from '../values.ts'
import { addEvidence } from './audit-evidence.ts'
import { writeReport } from './audit-report.ts'
import { addVerifyCommands } from './audit-verify.ts'

export function addCommand(program: Command): void {
  const audit = program
    .command('audit')
    .description('who asked for data of people, and who saw it; for all registries, also beside a running server')
  withPeriod(withPerson(withJson(audit.command('person'))))
    .description('list who has seen, written, or asked about the data of a person')
    .option('--confidential', 'also print users, cases and reasons, which were accounted encrypted')
    .option('--report <file>', 'write an answer to the person instead: a page, and beside it the same as JSON')
    .addHelpText(
      'after',
      `
The other identifiers of the same person's records are looked for as well, but phone numbers and e-mail addresses. Accounts
outlive the record. The look itself is accounted.

Example: rollcall audit person UIN 8128560370 --from 2026-01-01
Example: rollcall audit person UIN 8128560370 --report answer.html`,
    )
    .action(runPerson)
  withPeriod(withJson(audit.command('list')))
    .description('list the newest entries')
    .option('--participant <sender_id>', 'those of one participant')
    .option('--registry <namespace>', 'those of one registry')
    .addOption(new Option('--kind <kind>', 'those of one kind').choices([...ACCOUNT_KINDS]))
    .option('--limit <entries>', 'list at most this many entries', wholeNumber(1, 10_000), 50)
    .addHelpText('after', '\nExample: rollcall audit list --kind refusal --from 2026-07-01')
    .action(runList)
  withJson(audit.command('emergencies'))
    .description('list the emergencies that nobody has reviewed, the oldest first, with their reasons')
    .option('--reviewed', 'those that somebody has reviewed')
    .option('--limit <entries>', 'list at most this many entries', wholeNumber(1, 10_000), 50)
    .addHelpText('after', '\nExample: rollcall audit emergencies')
    .action(runEmergencies)
  withJson(audit.command('review'))
    .description('say that an emergency was reviewed, and what was found')
    .argument('<id>', 'id of the entry')
    .requiredOption('--note <text>', 'what was found; it is stored encrypted')
    .addHelpText(
      'after',
      "\nExample: rollcall audit review 4f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002.17 --note 'Checked with the ward'",
    )
    .action(runReview)
  addEvidence(audit)
  addVerifyCommands(audit)
}

const withPeriod = (command: Command): Command =>
  command
    .option('--from <time>', 'only what was at this day or time, or later', instant)
    .option('--to <time>', 'only what was before this day or time', instant)

interface PeriodOptions extends OutputOptions {
  readonly from?: Date
  readonly to?: Date
}

const periodOf = ({ from, to }: PeriodOptions) => ({ from: from?.toISOString(), to: to?.toISOString() })

interface PersonOptions extends PeriodOptions {
  readonly confidential?: true
  readonly report?: string
}

async function runPerson(type: string, value: string | undefined, options: PersonOptions): Promise<void> {
  stopRequest()
  const { confidential, report } = options
  const person = { ...personOf(type, value), ...periodOf(options) }
  if (report !== undefined) return writeReport(person, report, options)
  const audited = await ask(auditPerson, { ...person, confidential })
  print(options, audited, personText(audited))
}

interface ListOptions extends PeriodOptions {
  readonly participant?: string
  readonly registry?: string
  readonly kind?: (typeof ACCOUNT_KINDS)[number]
  readonly limit: number
}

async function runList({ participant, registry, kind, limit, ...options }: ListOptions): Promise<void> {
  stopRequest()
  const found = await ask(listAccounts, { participant, namespace: registry, kind, limit, ...periodOf(options) })
  print(options, found, table(['id', 'kind', ...COLUMNS], accountRows(found), 'nothing is accounted'))
}

async function runEmergencies({
  reviewed,
  limit,
  ...options
}: OutputOptions & { readonly reviewed?: true; readonly limit: number }): Promise<void> {
  stopRequest()
  const found = await ask(listEmergencies, { reviewed, limit })
  print(options, found, emergencyText(found, reviewed === true))
}

async function runReview(id: string, { note, ...options }: OutputOptions & { readonly note: string }): Promise<void> {
  stopRequest()
  const review = await ask(reviewEmergency, { id, note })
  print(options, review, `reviewed by ${review.reviewed_by} at ${review.at}`)
}
