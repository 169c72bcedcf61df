/** Fields of a grant's form: basis, limits, times, purposes, conditions on records, programmes, emergencies. */

import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import type { Registry } from '../../api/answers.ts'
import { isoTimeOf, localTimeOf } from '../../parts/filters.ts'
import { GRANT } from '../../texts/grants.ts'
import { type Draft, grantedNames, readDraftNumber } from './draft.ts'
import { Emergency } from './emergency.tsx'
import styles from './grant.module.css'
import { GrantNameCheckboxes, GrantNamesTextField } from './name-list.tsx'
import { RecordConditions } from './rows.tsx'

const { edit: TEXTS } = GRANT
const BASES = ['law', 'consent', 'authorize', 'either']
/** The members of `header.meta` that a grant may demand in the participant's requests. */
const DEMANDED_HEADER_META_MEMBERS = ['requested_by', 'case']
const PROTECTED_CATEGORIES = ['adoption', 'shelter', 'witness_protection', 'sealed']
/** The permitted values of members of a grant that have a fixed choice; the first value is the default. */
const CHOICES_BY_GRANT_MEMBER = {
  minors: ['allowed', 'never'],
  counts: ['exact', 'capped', 'rounded', 'none'],
  consent: ['asserted', 'signed'],
} as const
const GRANT_CHOICE_MEMBERS = ['minors', 'counts', 'consent'] as const
const GRANT_TIME_MEMBERS = ['valid_from', 'valid_until'] as const
const GRANT_NUMBER_MEMBERS = [
  ...(['page_size', 'items_per_day', 'records_per_day'] as const),
  ...(['items_per_minute', 'records_per_minute'] as const),
]
const GRANT_TEXT_MEMBERS = ['legal_reference', 'responsible'] as const

interface GrantTermFieldsProps {
  readonly registry: Registry
  readonly draft: Draft
  readonly set: (member: string, value: unknown) => void
}

const textOrEmpty = (value: unknown): string => (value === undefined ? '' : String(value))

export function GrantTermFields({ registry, draft, set }: GrantTermFieldsProps) {
  const purposes = registry.purposes.map(({ code }) => code)
  const boxes = (member: 'purposes' | 'demands' | 'protected', known: readonly string[], withAll = false) => (
    <GrantNameCheckboxes
      known={known}
      withAll={withAll}
      label={TEXTS[member]}
      names={grantedNames(draft, member)}
      onChange={(names) => set(member, names.length === 0 ? undefined : names)}
    />
  )
  const names = (member: 'programmes' | 'authorities', withAll = false) => (
    <GrantNamesTextField
      label={TEXTS[member]}
      note={TEXTS.freeNotes[member]}
      withAll={withAll}
      names={grantedNames(draft, member)}
      onChange={(given) => set(member, given.length === 0 ? undefined : given)}
    />
  )
  return (
    <>
      <SingleValueFields draft={draft} set={set} />
      {draft.basis !== 'law' && boxes('purposes', purposes)}
      {boxes('demands', DEMANDED_HEADER_META_MEMBERS)}
      {draft.basis !== 'law' && names('authorities')}
      {boxes('protected', PROTECTED_CATEGORIES, true)}
      <RecordConditions registry={registry} draft={draft} onChange={(rows) => set('rows', rows)} />
      <Checkbox
        label={TEXTS.unfiltered}
        checked={draft.unfiltered === true}
        onChange={(event) => set('unfiltered', event.currentTarget.checked || undefined)}
      />
      {names('programmes', true)}
      <Emergency registry={registry} emergency={draft.emergency} onChange={(emergency) => set('emergency', emergency)} />
    </>
  )
}

function SingleValueFields({ draft, set }: Omit<GrantTermFieldsProps, 'registry'>) {
  return (
    <div className={styles.fields}>
      <NativeSelect
        label={TEXTS.basis}
        description={TEXTS.basisNote}
        data={BASES}
        value={textOrEmpty(draft.basis)}
        onChange={(event) => set('basis', event.currentTarget.value)}
      />
      {GRANT_CHOICE_MEMBERS.map((member) => (
        <NativeSelect
          key={member}
          label={TEXTS[member]}
          data={[{ value: '', label: TEXTS.byDefault(CHOICES_BY_GRANT_MEMBER[member][0]) }, ...CHOICES_BY_GRANT_MEMBER[member]]}
          value={textOrEmpty(draft[member])}
          onChange={(event) => set(member, event.currentTarget.value || undefined)}
        />
      ))}
      {GRANT_NUMBER_MEMBERS.map((member) => (
        <TextInput
          key={member}
          label={TEXTS[member]}
          description={TEXTS.noLimit}
          inputMode="numeric"
          value={textOrEmpty(draft[member])}
          onChange={(event) => set(member, readDraftNumber(event.currentTarget.value))}
        />
      ))}
      {GRANT_TIME_MEMBERS.map((member) => (
        <TextInput
          key={member}
          label={TEXTS[member]}
          description={TEXTS.noTime[member]}
          type="datetime-local"
          value={localTimeOf(textOrEmpty(draft[member]))}
          onChange={(event) => set(member, isoTimeOf(event.currentTarget.value))}
        />
      ))}
      {GRANT_TEXT_MEMBERS.map((member) => (
        <TextInput
          key={member}
          label={TEXTS[member]}
          value={textOrEmpty(draft[member])}
          onChange={(event) => set(member, event.currentTarget.value || undefined)}
        />
      ))}
    </div>
  )
}
