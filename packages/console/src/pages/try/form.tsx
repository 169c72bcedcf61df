/** The form of a search: the sender, the record type, and an identifier or conditions on attributes. */

import { Button, NativeSelect, Radio, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useSearch } from 'wouter'
import type { Registry } from '../../api/answers.ts'
import type { Answer } from '../../api/client.ts'
import { Conditions } from '../../parts/conditions.tsx'
import { type Condition, findValueText, writeExpression } from '../../parts/expression.ts'
import { hasSyntheticPeople } from '../../parts/synthetic.ts'
import { TRY } from '../../texts/try.ts'
import { SenderField } from './sender.tsx'
import styles from './try.module.css'

type Samples = Answer<'/admin/v1/registries/{namespace}/sample'>

export interface TrialRequest {
  sender_id: string
  record_type: string
  page_size?: number
  identifier?: { type: string; value: string }
  expression?: Record<string, unknown>
  later?: boolean
  send?: boolean
}

interface FormProps {
  readonly registry: Registry
  readonly samples: Samples
  readonly busy: boolean
  readonly onBuild: (tried: TrialRequest) => void
}

const { fields: FIELDS } = TRY
const INITIAL_PAGE_SIZE = '3'

export function TryForm({ registry, samples, busy, onBuild }: FormProps) {
  const types = Object.keys(registry.primary_identifiers)
  const [recordType, setRecordType] = useState(types[0] ?? '')
  // A link to this page may preset the participant, and that the answer comes later.
  const chosen = new URLSearchParams(useSearch())
  const [sender, setSender] = useState(chosen.get('sender_id') ?? '')
  const [by, setBy] = useState<keyof typeof TRY.by>('attributes')
  const [answer, setAnswer] = useState<keyof typeof TRY.answer>(
    hasSyntheticPeople(registry) && chosen.get('answer') === 'later' ? 'later' : 'now',
  )
  const [identifier, setIdentifier] = useState({ type: registry.identifier_types[0]?.name ?? '', value: '' })
  const [pageSize, setPageSize] = useState(INITIAL_PAGE_SIZE)
  const attributes = registry.attributes.filter(({ record_type }) => record_type === recordType)
  const [conditions, setConditions] = useState(() => initialConditions(attributes, samples, recordType))
  const chooseType = (name: string) => {
    setRecordType(name)
    const of = registry.attributes.filter(({ record_type }) => record_type === name)
    setConditions(initialConditions(of, samples, name))
  }
  const build = () => {
    const kinds = new Map(attributes.map(({ name, type: kind }) => [name, kind]))
    onBuild({
      sender_id: sender.trim(),
      record_type: recordType,
      later: answer === 'later',
      ...(/^\d{1,9}$/.test(pageSize) && { page_size: Number(pageSize) }),
      ...(by === 'identifier'
        ? { identifier: { ...identifier, value: identifier.value.trim() } }
        : { expression: writeExpression(conditions, kinds) }),
    })
  }
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        build()
      }}
    >
      <div className={styles.fields}>
        <SenderField value={sender} onChange={setSender} />
        <NativeSelect
          label={FIELDS.record_type}
          data={types}
          value={recordType}
          onChange={(event) => chooseType(event.currentTarget.value)}
        />
        <TextInput
          label={FIELDS.page_size}
          inputMode="numeric"
          autoComplete="off"
          value={pageSize}
          onChange={(event) => setPageSize(event.currentTarget.value)}
        />
      </div>
      <Radio.Group label={FIELDS.by} value={by} onChange={(chosen) => setBy(chosen === 'identifier' ? chosen : 'attributes')}>
        <div className={styles.choices}>
          <Radio value="attributes" label={TRY.by.attributes} />
          <Radio value="identifier" label={TRY.by.identifier} />
        </div>
      </Radio.Group>
      {by === 'identifier' ? (
        <IdentifierFields registry={registry} identifier={identifier} onChange={setIdentifier} />
      ) : (
        <Conditions attributes={attributes} conditions={conditions} onChange={setConditions} />
      )}
      {hasSyntheticPeople(registry) && (
        <Radio.Group label={FIELDS.answer} value={answer} onChange={(chosen) => setAnswer(chosen === 'later' ? chosen : 'now')}>
          <div className={styles.choices}>
            <Radio value="now" label={TRY.answer.now} />
            <Radio value="later" label={TRY.answer.later} />
          </div>
        </Radio.Group>
      )}
      <div>
        <Button type="submit" loading={busy} disabled={sender.trim() === ''}>
          {TRY.build}
        </Button>
      </div>
    </form>
  )
}

/** The condition at the start: the first attribute with a value in the synthetic record equals that value. */
function initialConditions(attributes: Registry['attributes'], samples: Samples, recordType: string): readonly Condition[] {
  const record = samples.find(({ record_type }) => record_type === recordType)?.record
  for (const { name, paths } of attributes) {
    const value = paths.map((path) => findValueText(record, path)).find((found) => found !== null)
    if (value !== undefined && value !== null) return [{ attribute: name, operator: '$eq', value }]
  }
  return [{ attribute: attributes[0]?.name ?? '', operator: '$eq', value: '' }]
}

interface IdentifierProps {
  readonly registry: Registry
  readonly identifier: Required<TrialRequest>['identifier']
  readonly onChange: (identifier: Required<TrialRequest>['identifier']) => void
}

function IdentifierFields({ registry, identifier, onChange }: IdentifierProps) {
  return (
    <div className={styles.fields}>
      <NativeSelect
        label={FIELDS.type}
        data={registry.identifier_types.map(({ name }) => name)}
        value={identifier.type}
        onChange={(event) => onChange({ ...identifier, type: event.currentTarget.value })}
      />
      <TextInput
        label={FIELDS.value}
        required
        withAsterisk={false}
        autoComplete="off"
        spellCheck={false}
        value={identifier.value}
        onChange={(event) => onChange({ ...identifier, value: event.currentTarget.value })}
      />
    </div>
  )
}
