/** `rollcall source`: records that stay in the registry's own database. */
import type { checkSource } from '@rollcall/admin/registries/source-check'
import { derived } from '../derived.ts'
import { reportText } from '../import-report.ts'
import { counted } from '../output.ts'
import { type Group, later } from '../subject.ts'

type Checked = Awaited<ReturnType<typeof checkSource>>

export const SUBJECT: Group = {
  about: "propose and check a file for records that stay in the registry's own database",
  commands: {
    propose: later(
      'propose a source file, by the catalog of a database and some of its rows, for review',
      () => import('./source-propose.ts'),
    ),
    check: derived(async () => (await import('@rollcall/admin/registries/source-check')).checkSource, {
      about: 'connect to the database of a source file, and say what is understood of its rows',
      args: 'of',
      options: {
        of: { help: 'namespace of a registry, or a kind' },
        source: { flags: '--source <file>', read: String },
      },
      notes: `
The source file says where the database is, which tables have the records, and how columns become members of records
(docs/sources.md). Nothing is written there or here. An account that may do more than read is refused. The report is that of
an import, over the first 1,000 rows of each record type: it names columns and rules, and never a value. Missing indexes are
printed as statements for the administrator of the database.`,
      examples: ['civil --source source.yaml'],
      file: 'source',
      deps: () => ({ env: process.env }),
      text: checkedText,
    }),
  },
}

function checkedText({ database, writes, weak, records }: Checked): string {
  return [
    database,
    ...writes.map((one) => `for a trial alone: ${one}`),
    ...weak.map((one) => `weak: ${one}`),
    ...records.flatMap(({ record_type, rows, left_out, report, unfound, slow }) => [
      '',
      `${record_type}: ${counted(rows, 'row')} read; ${left_out === 0 ? 'each is a record' : `${left_out} of them are in no answer`}`,
      ...reportText(report, []),
      ...unfound.map(
        ({ name, column, count }) =>
          `${name}: ${counted(count, 'value')} of ${column} ${count === 1 ? 'is' : 'are'} not written as ${name} compares, and no question finds ${count === 1 ? 'it' : 'them'}`,
      ),
      ...slow.map(
        ({ name, table, index }) => `slow: ${name} reads all of ${table}${index === null ? '' : `; ${index}`}`,
      ),
    ]),
  ].join('\n')
}
