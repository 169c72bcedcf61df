/** Makes the HTML text of a page to print: the report of accesses to a person's data. It has no script and loads nothing. */

import { spreadsheetCell } from '@rollcall/base/shared/spreadsheet'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import Type, { type Static } from 'typebox'
import { closed, instant, markPersonal, orNull, text } from '../members.ts'
import { ACCESSES_OF_MONTH_MEMBERS } from './accesses-by-month.ts'

const ReportedDataAccess = closed({
  at: instant('When.'),
  who: text('Who it was.'),
  sender_id: orNull(text('What the registry knows the institution by.')),
  registry: orNull(text('In which registry.')),
  what: text('What was done.'),
  basis: text('On what basis.'),
  purpose: orNull(text('The purpose that was named.')),
  data: Type.Array(Type.String(), { description: 'Which data were shown, at most.' }),
})
export type ReportedDataAccess = ReadOnly<Static<typeof ReportedDataAccess>>

export const AccessReportResult = closed({
  made_at: instant('When the report was made.'),
  from: orNull(instant('From when on was looked.')),
  to: orNull(instant('Until when was looked.')),
  identifier: markPersonal(closed({ type: text('Type of the identifier.'), value: text('Its value.') })),
  seen: Type.Array(ReportedDataAccess),
  written: Type.Array(ReportedDataAccess),
  asked: Type.Array(ReportedDataAccess),
  months: closed(
    {
      seen: Type.Array(closed(ACCESSES_OF_MONTH_MEMBERS)),
      written: Type.Array(closed(ACCESSES_OF_MONTH_MEMBERS)),
      asked: Type.Array(closed(ACCESSES_OF_MONTH_MEMBERS)),
    },
    { description: 'The same by institution and month, each as one sentence, the newest first.' },
  ),
})
export type AccessReport = ReadOnly<Static<typeof AccessReportResult>>

const STYLE = `body { font: 16px/1.5 sans-serif; color: #111; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { border: 1px solid #999; padding: .4rem .6rem; text-align: left; vertical-align: top; overflow-wrap: break-word }
tr { break-inside: avoid }
@media print { body { margin: 0; max-width: none; font-size: 11pt } }`

export function renderAccessPage(report: AccessReport): string {
  const { made_at, from, to, identifier, seen, written, asked, months } = report
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Who has seen your data</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Who has seen your data</h1>
<p>This page answers your question who has received data about you from this service. It was made on ${utcText(made_at)}
for the person with the identifier ${escapeMarkup(identifier.type)} ${escapeMarkup(identifier.value)}. ${periodText(from, to)}</p>
<p>All times are in UTC. Where several people were asked about at once, the list of data is that of all of them: of you the
same or less was shown.</p>
${renderSection('Who has seen data about you', { months: months.seen, accesses: seen }, 'Nobody has seen data about you in this time.')}
${renderSection('Who has written data about you', { months: months.written, accesses: written }, 'Nobody has written data about you in this time.')}
${renderSection(
  'Who has asked about you without seeing data',
  { months: months.asked, accesses: asked },
  'Nobody has asked about you without seeing data in this time.',
)}
</body>
</html>
`
}

function periodText(from: string | null, to: string | null): string {
  if (from === null && to === null) return 'It lists everything that is recorded.'
  return `It lists what is recorded${from === null ? '' : ` from ${utcText(from)}`}${to === null ? '' : ` until ${utcText(to)}`}.`
}

interface SectionData {
  readonly months: AccessReport['months']['seen']
  readonly accesses: readonly ReportedDataAccess[]
}

function renderSection(title: string, { months, accesses }: SectionData, nothing: string): string {
  const sentences = months.map(({ sentence }) => `<li>${escapeMarkup(spreadsheetCell(sentence))}</li>`).join('\n')
  const content =
    accesses.length === 0
      ? `<p>${nothing}</p>`
      : `<ul>\n${sentences}\n</ul>\n<h3>Each time, the newest first</h3>\n${renderTable(accesses.toReversed())}`
  return `<h2>${title}</h2>\n${content}`
}

const renderTable = (accesses: readonly ReportedDataAccess[]): string =>
  `<table>
<thead><tr><th>When</th><th>Who</th><th>What</th><th>Why</th><th>Which data</th></tr></thead>
<tbody>
${accesses.map((access, at) => renderRow(access, accesses[at - 1])).join('\n')}
</tbody>
</table>`

/**
 * A row of the table.
 * @param above the access in the row above. If both show the same two or more kinds of data, this row says `The same as above`
 */
function renderRow(access: ReportedDataAccess, above: ReportedDataAccess | undefined): string {
  const { at, who, sender_id, registry, what, basis, purpose, data } = access
  const name = sender_id === null || sender_id === who ? who : `${who} (${sender_id})`
  const where = registry === null ? '' : `, registry ${registry}`
  const why = purpose === null ? basis : `${basis}. Purpose: ${purpose}`
  const isSame = data.length > 1 && above?.data.join() === data.join()
  const shown = isSame ? 'The same as above' : data.join(', ') || 'None'
  return `<tr><td>${utcText(at)}</td>${[name, `${what}${where}`, why, shown].map(renderCell).join('')}</tr>`
}

/** A cell of the table. Its text is also safe in a spreadsheet program, which can open the page. */
const renderCell = (text: string): string => `<td>${escapeMarkup(spreadsheetCell(text))}</td>`

const utcText = (at: string): string => escapeMarkup(at.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC'))

const HTML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes markup. Control characters, and those that change the direction of the text, become question marks. */
const escapeMarkup = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_C}]/gu, '?').replace(/[&<>"']/g, (character) => HTML_ESCAPES[character] ?? '')
