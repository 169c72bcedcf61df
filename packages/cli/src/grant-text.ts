/** Grants in words, for people. */

import type { explainGrant, listGrants } from '@rollcall/server/admin/grants/grants'
import type { proposeGrant } from '@rollcall/server/admin/grants/proposal'
import { stringify } from 'yaml'

type Listed = Awaited<ReturnType<typeof listGrants>>
type Explained = Awaited<ReturnType<typeof explainGrant>>

/** Rows of a table. */
export const grantRows = (grants: Listed) =>
  grants.map(({ sender_id, namespace, version, terms, valid_from, valid_until }) => ({
    ...{ sender_id, namespace, version, valid_from, valid_until },
    basis: terms.basis,
    operations: names(terms.operations),
  }))

/** Line by line what a grant means; what it allows stands before what it does not. */
export function explanationText(explained: Explained): string {
  const { terms, version, valid_from, valid_until, sees_everything } = explained
  const purposes = terms.purposes === undefined ? '' : `, for ${names(terms.purposes)}`
  const lines = [
    ['grant', `version ${version}, from ${valid_from}${valid_until === null ? '' : ` until ${valid_until}`}`],
    ['operations', names(terms.operations)],
    ['query forms', names(terms.query_forms ?? ['identifier'])],
    ['identifier types', names(explained.identifier_types)],
    ...byRecordType('may ask about', explained.asks),
    ...byRecordType('may not ask about', explained.asks_not),
    ...(sees_everything ? [['may see', 'everything']] : byRecordType('may see', explained.sees)),
    ...byRecordType('may not see', explained.sees_not),
    ['may see also', sees_everything ? '' : others(explained)],
    [
      'only records with',
      Object.entries(terms.rows ?? {})
        .map(conditionOf)
        .join('; '),
    ],
    ['protected persons', terms.protected === undefined ? 'none' : names(terms.protected)],
    ['minors', terms.minors ?? 'allowed'],
    ['event types', names(terms.event_types ?? [])],
    ['without a filter', terms.unfiltered === true ? 'may subscribe to every record' : ''],
    ['programmes', names(terms.programmes ?? [])],
    [
      'basis',
      terms.basis === 'law'
        ? 'law: no consent is asked for'
        : `${terms.basis}${purposes}${consentText(terms)}`,
    ],
    ['demands', names((terms.demands ?? []).map((name) => `header.meta.${name}`))],
    ['total_count', terms.counts ?? 'exact'],
    ['page size', terms.page_size ?? ''],
    ['items a day', terms.items_per_day ?? ''],
    ['records a day', terms.records_per_day ?? ''],
    ['items a minute', terms.items_per_minute ?? ''],
    ['records a minute', terms.records_per_minute ?? ''],
    ['in an emergency', emergencyText(terms)],
    ['legal reference', terms.legal_reference ?? ''],
    ['responsible', terms.responsible ?? ''],
  ]
  const width = Math.max(...lines.map(([name]) => String(name).length)) + 2
  return lines
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${String(name).padEnd(width)}${text}`)
    .join('\n')
}

const byRecordType = (name: string, rows: Readonly<Record<string, readonly string[]>>): string[][] =>
  Object.entries(rows).map(([recordType, list]) => [`${name}: ${recordType}`, names(list)])

/** What the grant names beside attributes: identifiers, relations, members of documents. */
function others({ terms, sees }: Explained): string {
  const attributes = new Set(Object.values(sees).flat())
  return terms.see === 'all' ? '' : names(terms.see.filter((name) => !attributes.has(name)))
}

const emergencyText = ({ emergency }: Explained['terms']): string =>
  emergency === undefined
    ? ''
    : `may see ${names(emergency.see)} as well, of ${emergency.items_per_day} people a day`

/** Whether an authority must have signed it, and which. */
const consentText = ({ consent, authorities }: Explained['terms']): string => {
  const by = authorities === undefined ? 'a registered authority' : names(authorities)
  if (consent === 'signed') return `; signed by ${by}`
  return authorities === undefined ? '' : `; signed consents by ${by}`
}

const conditionOf = ([recordType, query]: [string, unknown]): string =>
  `${recordType}: ${JSON.stringify(query)}`

const names = (list: 'all' | readonly string[]): string => (list === 'all' ? 'all' : list.join(', '))

type Proposal = Awaited<ReturnType<typeof proposeGrant>>

/** A file for `grant set`; what people should know of it is in comments. */
export function proposalText(sender_id: string, namespace: string, proposal: Proposal): string {
  const { terms, from, days, entries, left_out, unchanged } = proposal
  const comments = [
    `A narrower grant of ${sender_id} in ${namespace}, proposed from ${entries} accounts since ${from}.`,
    `Something was accounted on ${days} of these days. What is used more rarely is not in it: read it before you set it.`,
    ...Object.entries(left_out).map(([name, list]) => `Left out of ${name}: ${list.join(', ')}`),
    `As it is granted now, since accounts say nothing of it: ${unchanged.join(', ')}`,
  ]
  const lines = comments.map((line) => `# ${line.replaceAll(/\s+/g, ' ')}`)
  return `${lines.join('\n')}\n${stringify(terms).trimEnd()}`
}
