/** Fields for the emergency part of a grant: the data that it shows, and its daily limit. */

import { Checkbox, TextInput } from '@mantine/core'
import type { Registry } from '../../api/answers.ts'
import { GRANT } from '../../texts/grants.ts'
import { type Draft, grantedNames, readDraftNumber, withMember } from './draft.ts'
import { GrantNameCheckboxes } from './name-list.tsx'

const { emergency: TEXTS } = GRANT.edit

interface EmergencyProps {
  readonly registry: Registry
  /** The emergency terms; undefined: none are granted. */
  readonly emergency: unknown
  readonly onChange: (emergency: Draft | undefined) => void
}

export function Emergency({ registry, emergency, onChange }: EmergencyProps) {
  const terms = emergency as Draft | undefined
  const set = (member: string, value: unknown) => onChange(withMember(terms ?? {}, member, value))
  const known = [...new Set([GRANT.edit.identifier, ...registry.attributes.map(({ name }) => name)])]
  return (
    <>
      <Checkbox
        label={TEXTS.label}
        description={TEXTS.note}
        checked={terms !== undefined}
        onChange={(event) => onChange(event.currentTarget.checked ? { see: [], items_per_day: 1 } : undefined)}
      />
      {terms !== undefined && (
        <>
          <GrantNameCheckboxes
            label={TEXTS.see}
            known={known}
            withAll
            names={grantedNames(terms, 'see')}
            onChange={(names) => set('see', names)}
          />
          <TextInput
            label={TEXTS.items_per_day}
            inputMode="numeric"
            value={String(terms.items_per_day ?? '')}
            onChange={(event) => set('items_per_day', readDraftNumber(event.currentTarget.value))}
          />
        </>
      )}
    </>
  )
}
