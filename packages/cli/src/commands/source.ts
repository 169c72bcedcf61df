/** `rollcall source`: manages sources, the databases outside of Rollcall in which records of a registry stay. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { checkSource } from '@rollcall/admin/registries/source-check'
import type { showSourceStatus } from '@rollcall/admin/registries/source-status'
import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import type { CommandDeps } from '../environment.ts'
import { importReportText } from '../import-report.ts'
import { countWithNoun, tableFormatter } from '../output.ts'
import { listenForStop } from '../stop.ts'

type SourceCheck = Awaited<ReturnType<typeof checkSource>>

type SourceStatus = Awaited<ReturnType<typeof showSourceStatus>>

export const COMMAND_TREE: CommandGroup = {
  about: "propose and check a file for records that stay in the registry's own database, and see how a copy follows them",
  commands: {
    propose: lazyCommand(
      'propose a source file, by the catalog of a database and some of its rows, for review',
      () => import('./source-propose.ts'),
    ),
    schema: lazyCommand('print the JSON Schema of a source file, for editors', () => import('./source-schema.ts')),
    check: adminCommand(async () => (await import('@rollcall/admin/registries/source-check')).checkSource, {
      about: 'connect to the database of a source file, and say what is understood of its rows',
      args: 'of',
      options: { of: { help: 'namespace of a registry, or a kind' }, source: { flags: '--source <file>', read: String } },
      notes: `
The source file says where the database is, which tables have the records, and how columns become members of records
(docs/sources.md). Nothing is written there or here. An account that may do more than read is refused. The report is that of
an import, over the first 1,000 rows of each record type: it names columns and rules, and never a value. Missing indexes are
printed as statements for the administrator of the database.`,
      examples: ['civil --source source.yaml'],
      file: 'source',
      deps: () => ({ env: process.env }),
      text: sourceCheckText,
    }),
    status: adminCommand(loadStatusFunction, {
      about: 'show how the copy of a source follows it: state, lag, the last failure and what to do',
      args: 'namespace',
      more: { '--wait': 'wait until all records were read once, and the registry answers' },
      deps: (_, { wait }) => ({ wait: wait === true }),
      notes: `
Exit codes: 0, or 1 when the source cannot be followed now. With --wait the command ends when the registry answers.`,
      examples: ['births', 'births --wait'],
      failed: ({ state }) => state === 'failing',
      text: statusText,
    }),
    rejects: adminCommand(async () => (await import('@rollcall/admin/registries/source-status')).listSourceRejects, {
      about: 'list the rows of a source that are no record, by their keys, with the reasons',
      args: 'namespace',
      options: { after: { flags: '--after <key>' } },
      pages: true,
      examples: ['births', 'births --after 4711'],
      text: tableFormatter('record_type key reason', 'each row of the source is a record'),
    }),
    compare: adminCommand(async () => (await import('@rollcall/admin/registries/source-status')).compareSource, {
      about: 'compare all records of a copy with its source, beside the comparison of each day',
      args: 'namespace',
      examples: ['births'],
      text: ({ namespace }) => `a node begins within seconds; rollcall source status ${namespace} shows it`,
    }),
  },
}

function sourceCheckText({ database, writes, weak, records }: SourceCheck): string {
  return [
    database,
    ...writes.map((one) => `for a trial alone: ${one}`),
    ...weak.map((one) => `weak: ${one}`),
    ...records.flatMap(({ record_type, rows, left_out, report, unfound, slow }) => [
      '',
      `${record_type}: ${countWithNoun(rows, 'row')} read; ${left_out === 0 ? 'each is a record' : `${left_out} of them are in no answer`}`,
      ...importReportText(report, []),
      ...unfound.map(
        ({ name, column, count }) =>
          `${name}: ${countWithNoun(count, 'value')} of ${column} ${count === 1 ? 'is' : 'are'} not written as ${name} compares, and no question finds ${count === 1 ? 'it' : 'them'}`,
      ),
      ...slow.map(({ name, table, index }) => `slow: ${name} reads all of ${table}${index === null ? '' : `; ${index}`}`),
    ]),
  ].join('\n')
}

/** Milliseconds between two reads of the status with `--wait`. */
const STATUS_PAUSE_MILLISECONDS = 500

/**
 * Makes the function that reads the status of a source. With `wait`, the function reads the status again and again, and prints
 * each new failure. It returns when the source's registry answers (all records were read once), or the command is interrupted.
 */
async function loadStatusFunction() {
  const { showSourceStatus } = await import('@rollcall/admin/registries/source-status')
  const ask = async (deps: CommandDeps & { readonly wait: boolean }, input: { readonly namespace: string }) => {
    let told: string | null = null
    for (;;) {
      const status = await showSourceStatus(deps, input)
      if (!deps.wait || status.answers || listenForStop().signal.aborted) return status
      if (status.failure !== null && status.failure !== told) process.stderr.write(`${status.failure}\n`)
      told = status.failure
      await sleep(STATUS_PAUSE_MILLISECONDS, undefined, { signal: listenForStop().signal }).catch(() => undefined)
    }
  }
  return Object.assign(ask, { input: showSourceStatus.input, act: null })
}

function statusText({ state, lag_seconds, behind, rejects, compared_at, failure, failed_at, advice }: SourceStatus): string {
  return [
    `${state}${lag_seconds === null ? '' : `, ${lag_seconds} seconds behind`}${behind === 0 ? '' : `, ${countWithNoun(behind, 'row')} to write`}`,
    ...(compared_at === null ? [] : [`all records compared: ${compared_at}`]),
    ...(rejects === 0 ? [] : [`${countWithNoun(rejects, 'row')} of the source ${rejects === 1 ? 'is' : 'are'} no record`]),
    ...(failure === null ? [] : [`failing since ${failed_at}: ${failure}`]),
    ...(advice === null ? [] : [advice]),
  ].join('\n')
}
