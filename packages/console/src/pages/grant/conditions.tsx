/** The members of a grant that are no names: its basis, its limits, its end, and the rest as JSON. */
import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { isoOf, localOf } from '../../parts/filters.ts'
import { GRANT } from '../../texts/grants.ts'
import { type Draft, namesOf, readObject } from './draft.ts'
import styles from './grant.module.css'
import { NameList } from './name-list.tsx'
import type { Registry } from './page.tsx'

const { edit: TEXTS } = GRANT
const BASES = ['law', 'consent', 'authorize', 'either']
const DEMANDS = ['requested_by', 'case']
/** The first is what it means not to choose. */
const CHOICES = {
  minors: ['allowed', 'never'],
  counts: ['exact', 'capped', 'rounded', 'none'],
} as const
const NUMBERS = [
  ...(['page_size', 'items_per_day', 'records_per_day'] as const),
  ...(['items_per_minute', 'records_per_minute'] as const),
]
const WORDS = ['legal_reference', 'responsible'] as const
const FURTHER = [
  ...['rows', 'protected', 'programmes', 'unfiltered'],
  ...['consent', 'authorities', 'emergency', 'valid_from'],
]

interface ConditionsProps {
  readonly registry: Registry
  readonly draft: Draft
  readonly set: (member: string, value: unknown) => void
  readonly onDraft: (draft: Draft) => void
  /** What is written as JSON is none. */
  readonly onWrong: (isWrong: boolean) => void
}

const textOf = (value: unknown): string => (value === undefined ? '' : String(value))

export function Conditions({ registry, draft, set, onDraft, onWrong }: ConditionsProps) {
  const purposes = registry.purposes.map(({ code }) => code)
  const boxes = (member: 'purposes' | 'demands', known: readonly string[]) => (
    <NameList
      label={TEXTS[member]}
      known={known}
      names={namesOf(draft, member)}
      onChange={(names) => set(member, names.length === 0 ? undefined : names)}
    />
  )
  return (
    <>
      <div className={styles.fields}>
        <NativeSelect
          label={TEXTS.basis}
          description={TEXTS.basisNote}
          data={BASES}
          value={textOf(draft.basis)}
          onChange={(event) => set('basis', event.currentTarget.value)}
        />
        {(['minors', 'counts'] as const).map((member) => (
          <NativeSelect
            key={member}
            label={TEXTS[member]}
            data={[{ value: '', label: TEXTS.byDefault(CHOICES[member][0]) }, ...CHOICES[member]]}
            value={textOf(draft[member])}
            onChange={(event) => set(member, event.currentTarget.value || undefined)}
          />
        ))}
        {NUMBERS.map((member) => (
          <TextInput
            key={member}
            label={TEXTS[member]}
            description={TEXTS.noLimit}
            inputMode="numeric"
            value={textOf(draft[member])}
            onChange={(event) => set(member, numberOf(event.currentTarget.value))}
          />
        ))}
        <TextInput
          label={TEXTS.valid_until}
          description={TEXTS.noEnd}
          type="datetime-local"
          value={localOf(textOf(draft.valid_until))}
          onChange={(event) => set('valid_until', isoOf(event.currentTarget.value))}
        />
        {WORDS.map((member) => (
          <TextInput
            key={member}
            label={TEXTS[member]}
            value={textOf(draft[member])}
            onChange={(event) => set(member, event.currentTarget.value || undefined)}
          />
        ))}
      </div>
      {draft.basis !== 'law' && boxes('purposes', purposes)}
      {boxes('demands', DEMANDS)}
      <Further draft={draft} onDraft={onDraft} onWrong={onWrong} />
    </>
  )
}

/** A text that is no number stays as it is: the server says what is wrong. */
function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed)
}

function Further({ draft, onDraft, onWrong }: Pick<ConditionsProps, 'draft' | 'onDraft' | 'onWrong'>) {
  const entries = Object.entries(draft)
  const further = Object.fromEntries(entries.filter(([member]) => FURTHER.includes(member)))
  const [text, setText] = useState<string | null>(null)
  const shown = text ?? (Object.keys(further).length === 0 ? '' : JSON.stringify(further, null, 2))
  const isWrong = readObject(shown) === null
  return (
    <Textarea
      label={TEXTS.further}
      description={TEXTS.furtherNote}
      error={isWrong && TEXTS.furtherWrong}
      rows={5}
      spellCheck={false}
      autoComplete="off"
      value={shown}
      onChange={(event) => {
        const value = event.currentTarget.value
        const read = readObject(value)
        setText(value)
        onWrong(read === null)
        const others = entries.filter(([member]) => !FURTHER.includes(member))
        if (read !== null) onDraft({ ...Object.fromEntries(others), ...read })
      }}
      // From here on it is what the draft has: a template may change it.
      onBlur={() => !isWrong && setText(null)}
    />
  )
}
