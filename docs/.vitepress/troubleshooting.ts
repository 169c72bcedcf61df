/** The page docs/troubleshooting.md: the table of codes, the triggers of docs/codes.md, and advice. */
import { CODES, type CodePlace, type CodeRow } from '../../packages/protocol/src/codes.ts'
import { ADVICE } from './advice.ts'

const PLACES: Readonly<Record<CodePlace, string>> = {
  ack: 'the acknowledgement: the whole request is refused',
  header: 'the header of the reply: the whole message is rejected',
  search: 'an item of a search reply, or of the answer to a question',
  subscribe: 'an item of a subscribe reply',
  unsubscribe: 'the unsubscribe reply',
}

/** The last cell of a code's row in docs/codes.md. */
function triggerOf(row: CodeRow, codes: string): string {
  const section = codes.split(/^## /m).find((text) => text.includes(`(\`${row.where}\`)`)) ?? ''
  const line = section.split('\n').find((text) => text.startsWith(`| \`${row.code}\` |`)) ?? ''
  const cells = line.split('|').map((cell) => cell.trim())
  const trigger = cells.at(-2)
  if (trigger === undefined) throw new Error(`docs/codes.md has no row ${row.where} ${row.code}`)
  return trigger
}

function placeOf(row: CodeRow, codes: string): string {
  const status = 'http_status' in row ? ` HTTP ${row.http_status} unless the cause names another.` : ''
  return [
    `- **Where:** ${PLACES[row.where]}.${status}`,
    `- **Meaning:** ${row.meaning}`,
    `- **Cause:** ${triggerOf(row, codes)}`,
  ].join('\n')
}

function sectionOf(code: CodeRow['code'], codes: string): string {
  const { sender, operator } = ADVICE[code]
  const places = CODES.filter((row) => row.code === code).map((row) => placeOf(row, codes))
  return [
    `## \`${code}\``,
    places.join('\n\n'),
    `**What to do:** ${sender}`,
    ...(operator === undefined ? [] : [`**The operator:** ${operator}`]),
  ].join('\n\n')
}

/** @param codes the text of docs/codes.md */
export function troubleshootingPage(codes: string): string {
  const all = [...new Set(CODES.map(({ code }) => code))]
  const statuses = [
    ...new Set(CODES.flatMap((row) => ('http_status' in row ? [row.http_status] : []))),
  ].sort()
  const rows = statuses.map((status) => {
    const those = CODES.filter((row) => 'http_status' in row && row.http_status === status)
    const links = those.map(({ code }) => `[\`${code}\`](#${code.replaceAll('.', '')})`)
    return `| ${status} | ${links.join(', ')} |`
  })
  return [
    '# Troubleshooting by code',
    'Every error has a code and a text. The text names the member and the rule, and never a value. This page has for each code its ' +
      'cause and what to do. It is made from the table of codes and from [codes.md](codes.md); a test compares them.',
    'A request that was refused with an HTTP status other than 200 has its code in `message.error.code` and in `errors`. In an answer ' +
      'with HTTP 200 look at `header.status_reason_code`, and at `status_reason_code` of each item.',
    ['| HTTP status | Codes |', '|---|---|', ...rows].join('\n'),
    'What came of a request later, the operator sees with `rollcall trace TRANSACTION_ID`, and what came of a callback with ' +
      '`rollcall deliveries list` ([deliveries.md](deliveries.md)).',
    ...all.map((code) => sectionOf(code, codes)),
    '',
  ].join('\n\n')
}
