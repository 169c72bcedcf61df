/** Describes grants in words, for people. */
import type { explainGrant } from './grants.ts'

type ExplainedGrant = Awaited<ReturnType<typeof explainGrant>>

/**
 * The lines of a grant, each with its subject and its words.
 * @param options.conditions whether conditions on records are shown with their values, which may be those of a person
 */
export function describeGrant(
  explained: ExplainedGrant,
  { conditions }: { readonly conditions: boolean },
): readonly (readonly [about: string, words: string])[] {
  const { terms, sees_everything } = explained
  const purposes = terms.purposes === undefined ? '' : `, for ${allOrNames(terms.purposes)}`
  const lines: readonly (readonly [string, string])[] = [
    ['operations', allOrNames(terms.operations)],
    ['query forms', allOrNames(terms.query_forms ?? ['identifier'])],
    ['identifier types', allOrNames(explained.identifier_types)],
    ...recordTypeLines('may ask about', explained.asks),
    ...recordTypeLines('may not ask about', explained.asks_not),
    ...(sees_everything ? [['may see', 'everything'] as const] : recordTypeLines('may see', explained.sees)),
    ...recordTypeLines('may not see', explained.sees_not),
    ['may see also', sees_everything ? '' : seenNonAttributeNamesText(explained)],
    [
      'only records with',
      Object.entries(terms.rows ?? {})
        .map(([recordType, query]) =>
          conditions ? `${recordType}: ${JSON.stringify(query)}` : `${recordType}: conditions of the operator`,
        )
        .join('; '),
    ],
    ['protected persons', terms.protected === undefined ? 'none' : allOrNames(terms.protected)],
    ['minors', terms.minors ?? 'allowed'],
    ['event types', allOrNames(terms.event_types ?? [])],
    ['without a filter', terms.unfiltered === true ? 'may subscribe to every record' : ''],
    ['programmes', allOrNames(terms.programmes ?? [])],
    ['basis', terms.basis === 'law' ? 'law: no consent is asked for' : `${terms.basis}${purposes}${consentText(terms)}`],
    ['demands', allOrNames((terms.demands ?? []).map((name) => `header.meta.${name}`))],
    ['total_count', terms.counts ?? 'exact'],
    ['page size', numberText(terms.page_size)],
    ['items a day', numberText(terms.items_per_day)],
    ['records a day', numberText(terms.records_per_day)],
    ['items a minute', numberText(terms.items_per_minute)],
    ['records a minute', numberText(terms.records_per_minute)],
    ['in an emergency', emergencyText(terms)],
    ['legal reference', terms.legal_reference ?? ''],
    ['responsible', terms.responsible ?? ''],
  ]
  return lines.filter(([, words]) => words !== '')
}

const numberText = (value: number | undefined): string => (value === undefined ? '' : String(value))

const recordTypeLines = (
  name: string,
  rows: Readonly<Record<string, readonly string[]>>,
): readonly (readonly [string, string])[] =>
  Object.entries(rows).map(([recordType, list]) => [`${name}: ${recordType}`, allOrNames(list)])

/** The granted names that are no attributes: identifiers, relations, members of documents. */
function seenNonAttributeNamesText({ terms, sees }: ExplainedGrant): string {
  const attributes = new Set(Object.values(sees).flat())
  return terms.see === 'all' ? '' : allOrNames(terms.see.filter((name) => !attributes.has(name)))
}

const emergencyText = ({ emergency }: ExplainedGrant['terms']): string =>
  emergency === undefined ? '' : `may see ${allOrNames(emergency.see)} as well, of ${emergency.items_per_day} people a day`

/**
 * Says whose signatures on consents are accepted. Empty if consents need no signature, and the grant does not limit the
 * authorities.
 */
const consentText = ({ consent, authorities }: ExplainedGrant['terms']): string => {
  const by = authorities === undefined ? 'a registered authority' : allOrNames(authorities)
  if (consent === 'signed') return `; signed by ${by}`
  return authorities === undefined ? '' : `; signed consents by ${by}`
}

const allOrNames = (list: 'all' | readonly string[]): string => (list === 'all' ? 'all' : list.join(', '))
