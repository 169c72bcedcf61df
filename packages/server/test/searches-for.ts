/** Searches of many forms that differ only in the person whom they name. */

/** Makes a query for a primary identifier. */
export const uin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
export const expression = (query: object, more: object = {}) => ({ query_type: 'expression', query, ...more })

/** A name, two values for the person, and the criteria with one of them. */
type Search = readonly [string, readonly [string, string], (name: string) => object]

/** Searches of every form that name a person, and those that name nobody. */
export function searchesFor(hidden: string, absent: string, telephone: string): readonly Search[] {
  const names = [hidden, absent] as const
  const page = { pagination: { page_size: 1, page_number: 2 } }
  const sort = { sort: [{ attribute_name: 'birth_date', sort_order: 'desc' }] }
  const graphql = (value: string) => ({
    query_type: 'graphql',
    query: { type: 'graphql', value: `{ person(UIN: "${value}") { sex who: birth_date name { surname } } }` },
  })
  return [
    ['identifier', names, uin],
    ['second page', names, (name) => ({ ...uin(name), ...page })],
    ['sorted', names, (name) => ({ ...uin(name), ...sort })],
    ['record type', names, (name) => ({ ...uin(name), reg_record_type: 'CRVS_Person' })],
    ['event type', names, (name) => ({ ...uin(name), reg_event_type: 'Death' })],
    ['another identifier', [`BRN-${hidden}`, `BRN-${absent}`], (value) => ({ ...uin(''), query: { type: 'BRN', value } })],
    ['telephone', [telephone, '+1 555 0999'], (value) => ({ ...uin(''), query: { type: 'MOBILE', value } })],
    ['expression', names, (name) => expression({ UIN: { $eq: name } })],
    ['any identifier', names, (name) => expression({ identifier: { $eq: name } })],
    ['a list, with one that is seen', names, (name) => expression({ UIN: { $in: ['SEEN-01', name] } }, sort)],
    ['beside what is seen', names, (name) => expression({ $or: [{ UIN: { $eq: name } }, { sex: { $eq: 'F' } }] }, page)],
    ['everybody else', names, (name) => expression({ $not: { UIN: { $eq: name } } }, page)],
    ['a name', [`Name-${hidden}`, `Name-${absent}`], (name) => expression({ surname: { $eq: name } }, page)],
    [
      'the beginning of a name',
      [`Name-${hidden.slice(0, -1)}`, `Name-${absent.slice(0, -1)}`],
      (name) => expression({ surname: { $like: `${name}%` } }),
    ],
    [
      'a list of expressions',
      names,
      (attribute_value) => ({
        query_type: 'predicate',
        query: [{ seq_num: 1, expression1: { attribute_name: 'UIN', operator: 'eq', attribute_value } }],
      }),
    ],
    ['graphql, with a selection', names, graphql],
  ]
}
