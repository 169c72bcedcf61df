/** Templates of common grants. A registry whose kind lacks a name in a template gets the terms without that name. */
import { type Kind, namesOf, operationsOf, searchKey } from '@rollcall/protocol'
import type { GrantTerms } from '../model/grant.ts'

export interface GrantTemplate {
  readonly name: string
  /** One sentence for the operator. */
  readonly description: string
  readonly terms: GrantTerms
}

export const GRANT_TEMPLATES: readonly GrantTemplate[] = [
  {
    name: 'everything',
    description: 'Every operation, question and record; doctor reports it as weak.',
    terms: {
      operations: 'all',
      query_forms: 'all',
      ask: 'all',
      see: 'all',
      event_types: 'all',
      unfiltered: true,
      programmes: 'all',
      basis: 'law',
    },
  },
  {
    name: 'eligibility',
    description: 'Looks a person up by an identifier and sees who they are.',
    terms: {
      operations: ['search', 'txn-status', 'enrolled', 'enrolment-status', 'disabled'],
      see: ['identifier', 'surname', 'given_name', 'sex', 'birth_date', 'death_date'],
      basis: 'law',
    },
  },
  {
    name: 'death-check',
    description: 'Asks whether a person has died, and is notified when one dies.',
    terms: {
      operations: ['search', 'txn-status', 'subscribe', 'unsubscribe'],
      see: ['identifier', 'death_date'],
      event_types: ['Death'],
      basis: 'law',
    },
  },
  {
    name: 'enrolment-writer',
    description: 'Sends enrolments in every programme, and sees those of a person.',
    terms: {
      operations: ['search', 'txn-status', 'enrolment-updates', 'enrolled'],
      see: ['identifier', 'enrolment'],
      programmes: 'all',
      basis: 'law',
    },
  },
]

/** The terms of a template, without the names that the kind lacks. */
export function termsOfTemplate(kind: Kind, { terms }: GrantTemplate): GrantTerms {
  const known = (list: GrantTerms['see'], names: readonly string[]): GrantTerms['see'] =>
    list === 'all' ? list : list.filter((name) => names.includes(searchKey(name)))
  const operations = operationsOf(kind).map(({ name }) => name)
  const eventTypes = kind.event_types.flatMap(namesOf)
  const attributes = kind.record_types.flatMap(({ attributes, compounds = [] }) => [
    ...attributes.flatMap(namesOf),
    ...compounds.flatMap(namesOf),
  ])
  return {
    ...terms,
    operations: known(terms.operations, operations.map(searchKey)),
    see: known(terms.see, ['identifier', ...attributes].map(searchKey)),
    ...(terms.event_types && { event_types: known(terms.event_types, eventTypes.map(searchKey)) }),
  }
}
