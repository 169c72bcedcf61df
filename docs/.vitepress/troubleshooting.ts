/** The page docs/troubleshooting.md: the table of codes, their triggers, and advice. */
import { CODES, type CodePlace, type CodeRow } from '../../packages/protocol/src/codes.ts'
import { ADVICE } from './advice.ts'
import { TRIGGERS } from './triggers.ts'

const PLACES: Readonly<Record<CodePlace, string>> = {
  ack: 'the acknowledgement: the whole request is refused',
  header: 'the header of the reply: the whole message is rejected',
  search: 'an item of a search reply, or of the answer to a question',
  subscribe: 'an item of a subscribe reply',
  unsubscribe: 'the unsubscribe reply',
}

function triggerOf({ where, code }: CodeRow): string {
  const trigger = TRIGGERS[where][code]
  if (trigger === undefined) throw new Error(`triggers.ts has no row ${where} ${code}`)
  return trigger
}

function placeOf(row: CodeRow): string {
  const status = 'http_status' in row ? ` HTTP ${row.http_status} unless the cause names another.` : ''
  return [
    `- **Where:** ${PLACES[row.where]}.${status}`,
    `- **Meaning:** ${row.meaning}`,
    `- **Cause:** ${triggerOf(row)}`,
  ].join('\n')
}

function sectionOf(code: CodeRow['code']): string {
  const { sender, operator } = ADVICE[code]
  const places = CODES.filter((row) => row.code === code).map((row) => placeOf(row))
  return [
    `## \`${code}\``,
    places.join('\n\n'),
    `**What to do:** ${sender}`,
    ...(operator === undefined ? [] : [`**The operator:** ${operator}`]),
  ].join('\n\n')
}

export function troubleshootingPage(): string {
  const all = [...new Set(CODES.map(({ code }) => code))]
  const statuses = [...new Set(CODES.flatMap((row) => ('http_status' in row ? [row.http_status] : [])))].sort()
  const rows = statuses.map((status) => {
    const those = CODES.filter((row) => 'http_status' in row && row.http_status === status)
    const links = those.map(({ code }) => `[\`${code}\`](#${code.replaceAll('.', '')})`)
    return `| ${status} | ${links.join(', ')} |`
  })
  return [
    '# Troubleshooting by code',
    'Every error has a code and a text. The text names the member and the rule, and never a value. This page has for each code its ' +
      'cause and what to do. [codes.md](codes.md) lists them by the place where they stand.',
    'A request that was refused with an HTTP status other than 200 has its code in `message.error.code` and in `errors`. In an answer ' +
      'with HTTP 200 look at `header.status_reason_code`, and at `status_reason_code` of each item.',
    ['| HTTP status | Codes |', '|---|---|', ...rows].join('\n'),
    'What came of a request later, the operator sees with `rollcall trace TRANSACTION_ID`, and what came of a callback with ' +
      '`rollcall deliveries list` ([deliveries.md](deliveries.md)).',
    ...all.map((code) => sectionOf(code)),
    '',
  ].join('\n\n')
}
