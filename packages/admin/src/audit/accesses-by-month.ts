/** The accesses to the data of a person, as sentences: one for each institution and month. */

import type { ReadOnly } from '@rollcall/core/model/read-only'
import { KINDS } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import { closed, instant, orNull, text, wholeNumber } from '../members.ts'
import { type EntryFacts, EntryId } from './facts.ts'

/** The facts about the accesses of one institution in one month, with the sentence that says them. */
export const ACCESSES_OF_MONTH_MEMBERS = {
  month: text('Month in UTC, such as 2026-11.'),
  who: text('Name of the institution. People who work for the registry are not named.'),
  sender_id: orNull(text('sender_id of the institution; null: the registry itself.')),
  looks: wholeNumber('How often, in the month, without what was not sent.'),
  last: instant('The last time.'),
  data: Type.Array(Type.String(), { description: 'What the data are about, of all these accesses together.' }),
  sentence: text('All of it in one sentence.'),
} as const

export const AccessesOfMonth = closed({
  ...ACCESSES_OF_MONTH_MEMBERS,
  entries: Type.Array(EntryId, { description: 'The entries, the newest first.' }),
})
export type AccessesOfMonth = ReadOnly<Static<typeof AccessesOfMonth>>

type AccessEntryFacts = EntryFacts & {
  /** True if the message was not sent: no data left the registry. */
  readonly unsent: boolean
}

/** Groups accesses by institution and month, the newest first. @param names the names of institutions, by sender_id */
export function accessesByMonth(accesses: readonly AccessEntryFacts[], names: ReadonlyMap<string, string>): AccessesOfMonth[] {
  const newest = accesses.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
  const groups = Map.groupBy(newest, ({ at, participant }) => JSON.stringify([monthOf(at), participant]))
  return [...groups.values()].flatMap((alike) => {
    const [first] = alike
    return first === undefined ? [] : [sumUpMonth(first, alike, whoAccessed(first, names))]
  })
}

/** Sums up the accesses of one institution in one month. @param newest the latest of these accesses */
function sumUpMonth(newest: AccessEntryFacts, accesses: readonly AccessEntryFacts[], who: string): AccessesOfMonth {
  const sent = accesses.filter(({ unsent }) => !unsent)
  const data = [...new Set(sent.flatMap(({ shown }) => Object.values(shown).flat()).flatMap(mainWordOfPath))].sort()
  const said = data.length === 0 ? '' : `: ${data.join(', ')}`
  return {
    month: monthOf(newest.at),
    who,
    sender_id: newest.participant,
    last: newest.at,
    data,
    looks: sent.reduce((sum, { count }) => sum + count, 0),
    sentence: `${who.replace(UNSAFE_CHARACTERS, '?')}, ${countsText(accesses)}, last on ${dayText(newest.at)}${said}`,
    entries: accesses.map(({ id }) => id),
  }
}

/** Characters in a name that could reverse the text behind it, or control the output. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Bidi_C}]/gu

const whoAccessed = ({ participant }: AccessEntryFacts, names: ReadonlyMap<string, string>): string =>
  participant === null ? 'An employee of the registry, or a program of it' : (names.get(participant) ?? participant)

const monthOf = (at: string): string => at.slice(0, 7)

const dayText = (at: string): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

type NounForms = readonly [one: string, many: string]

/** The nouns for accesses, by the kind of the access or, for a kind that is not in this list, by its operation. */
const ACCESS_NOUNS: Readonly<Record<string, NounForms>> = {
  notification: ['notification', 'notifications'],
  operator: ['look or change', 'looks or changes'],
  search: ['search', 'searches'],
  'enrolment-updates': ['update', 'updates'],
}
const DEFAULT_ACCESS_NOUN: NounForms = ['question', 'questions']
const UNSENT_NOUN: NounForms = ['message that was not sent', 'messages that were not sent']

function countsText(accesses: readonly AccessEntryFacts[]): string {
  const groups = Map.groupBy(accesses, ({ kind, operation, unsent }) =>
    unsent ? UNSENT_NOUN : (ACCESS_NOUNS[kind] ?? ACCESS_NOUNS[operation ?? ''] ?? DEFAULT_ACCESS_NOUN),
  )
  return [...groups]
    .map(([[one, many], alike]) => {
      const times = alike.reduce((sum, { count }) => sum + count, 0)
      return `${times} ${times === 1 ? one : many}`
    })
    .join(', ')
}

/**
 * The words of a path for people; null for a path that only programs read, such as `@id`. The parts `identifier_type`
 * and `identifier_value` are left out; a path that has only these parts becomes the word `identifier`.
 */
export function plainWordsOfPath(path: string): readonly string[] | null {
  const parts = path.split('.')
  if (parts.some((part) => part.startsWith('@'))) return null
  const named = parts.filter((part) => part !== 'identifier_type' && part !== 'identifier_value')
  return named.length === 0 ? ['identifier'] : named.map((part) => part.replaceAll('_', ' '))
}

/** Words for members that only hold other members, and say nothing about a person themselves. */
const CONTAINER_MEMBER_WORDS = new Set(
  KINDS.flatMap(({ record_types }) => record_types.flatMap(({ query_prefixes = [] }) => query_prefixes))
    .flatMap((prefix) => prefix.split('.'))
    .concat('additional_attributes')
    .map((part) => part.replaceAll('_', ' ')),
)

/** The word that people use for a path, as a list of one: `name` for name.surname. Empty for a path that only programs read. */
function mainWordOfPath(path: string): readonly string[] {
  const words = plainWordsOfPath(path)
  return words === null ? [] : [words.find((word) => !CONTAINER_MEMBER_WORDS.has(word)) ?? 'identifier']
}
