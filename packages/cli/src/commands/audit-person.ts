/** `rollcall audit person`: lists who has seen the data of a person, or writes a report for the person. */
import { reportAccess } from '@rollcall/admin/audit/access-report'
import { auditPerson } from '@rollcall/admin/audit/person-accesses'
import type { Command } from 'commander'
import { personAuditText } from '../audit-text.ts'
import { callWithDatabase } from '../environment.ts'
import { refuseUnwritablePath, writeNewFile } from '../new-file.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { addPersonArguments, readInstant, readPersonIdentifier } from '../values.ts'

export function defineCommand(command: Command): void {
  addPersonArguments(withJsonOption(command))
    .option('--from <time>', 'only what was at this day or time, or later', readInstant)
    .option('--to <time>', 'only what was before this day or time', readInstant)
    .option('--confidential', 'also print users, cases and reasons, which are stored encrypted')
    .option('--report <file>', 'write an answer to the person instead: a page, and beside it the same as JSON')
    .addHelpText(
      'after',
      `
The other identifiers of the same person's records are looked for as well, but phone numbers and e-mail addresses. Audit
entries outlive the record. The access itself gets an audit entry.

Example: rollcall audit person UIN 8128560370 --from 2026-01-01
Example: rollcall audit person UIN 8128560370 --report answer.html`,
    )
    .action(runAuditPerson)
}

interface AuditPersonOptions extends OutputOptions {
  readonly from?: Date
  readonly to?: Date
  readonly confidential?: true
  readonly report?: string
}

async function runAuditPerson(type: string, value: string | undefined, options: AuditPersonOptions): Promise<void> {
  listenForStop()
  const { from, to, confidential, report } = options
  const person = { ...readPersonIdentifier(type, value), from: from?.toISOString(), to: to?.toISOString() }
  if (report !== undefined) return writeReport(person, report, options)
  const audited = await callWithDatabase(auditPerson, { ...person, confidential })
  printResult(options, audited, personAuditText(audited))
}

/** Writes the report as a page and as JSON. @throws CommandError a file exists already, or cannot be written */
async function writeReport(person: Parameters<typeof reportAccess>[1], file: string, options: OutputOptions): Promise<void> {
  const json = `${file.replace(/\.html?$/, '')}.json`
  // The paths are checked first. Otherwise the audit log would have an entry of a report that nobody got.
  for (const path of [file, json]) await refuseUnwritablePath(path)
  const { html, report } = await callWithDatabase(reportAccess, person)
  await writeNewFile(file, html)
  await writeNewFile(json, `${JSON.stringify(report, null, 2)}\n`)
  printResult(options, { files: [file, json] }, `written: ${file} to be read, ${json} for programs`)
}
