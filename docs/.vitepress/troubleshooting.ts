/** The page docs/troubleshooting.md: the table of codes, their triggers, and advice. */
import { CODES, type CodePlace, type CodeRow } from '../../packages/protocol/src/codes.ts'
import { ADVICE } from './advice.ts'
import { TRIGGERS } from './triggers.ts'

const PLACES: Readonly<Record<CodePlace, string>> = {
  ack: 'Acknowledgement',
  header: 'Header',
  search: 'Search item',
  subscribe: 'Subscribe item',
  unsubscribe: 'Unsubscribe',
}

function triggerOf({ where, code }: CodeRow): string {
  const trigger = TRIGGERS[where][code]
  if (trigger === undefined) throw new Error(`triggers.ts has no row ${where} ${code}`)
  return trigger
}

/** Where the code is answered and why; places with the same cause stand together. */
function placesOf(rows: readonly CodeRow[]): string {
  const byTrigger = Map.groupBy(rows, triggerOf)
  const lines = [...byTrigger].map(([trigger, places]) => {
    const names = places.map((row) => PLACES[row.where] + ('http_status' in row ? `, HTTP ${row.http_status}` : ''))
    return `- **${names.join(', ')}:** ${trigger}`
  })
  return lines.join('\n')
}

function sectionOf(code: CodeRow['code']): string {
  const { sender, operator } = ADVICE[code]
  return [
    `## \`${code}\``,
    placesOf(CODES.filter((row) => row.code === code)),
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
    'For each code its causes and what to do; [codes.md](codes.md) has the meaning of each.',
    'A refused request has its code in `message.error.code` and in `errors`. In an answer with HTTP 200 look at ' +
      '`header.status_reason_code`, and at `status_reason_code` of each item.',
    ['| HTTP status | Codes |', '|---|---|', ...rows].join('\n'),
    'The operator sees what came of a request with `rollcall trace TRANSACTION_ID`, and of a callback with ' +
      '`rollcall deliveries list` ([deliveries.md](deliveries.md)).',
    '`rollcall.py` and `Rollcall.java` have two codes of their own:',
    [
      '- `token`: the registry gave no access token. The text has the HTTP status. 400 and 401: client_id or client secret are wrong, or ' +
        'the participant is disabled; 404: the address of the token endpoint is wrong.',
      '- `http`: something answered that is no registry, or not in this protocol: a proxy, or a wrong address. The text has the HTTP status.',
    ].join('\n'),
    ...all.map((code) => sectionOf(code)),
    '',
  ].join('\n\n')
}
