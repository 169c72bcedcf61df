/** Fields for the records that a grant may find: for each record type, all records, or only records that fulfil conditions. */

import { Button, Checkbox } from '@mantine/core'
import type { Registry } from '../../api/answers.ts'
import { Conditions } from '../../parts/conditions.tsx'
import { jsonText } from '../../parts/document.tsx'
import { type Condition, readConditions, writeExpression } from '../../parts/expression.ts'
import { GRANT } from '../../texts/grants.ts'
import { type Draft, grantedNames, isGrantedName, withMember } from './draft.ts'
import styles from './grant.module.css'
import { useFieldText } from './use-typed.ts'

const { rows: TEXTS } = GRANT.edit

interface RecordConditionsProps {
  readonly registry: Registry
  readonly draft: Draft
  /** Called with the new conditions on records; undefined: every record is granted. */
  readonly onChange: (rows: Draft | undefined) => void
}

export function RecordConditions({ registry, draft, onChange }: RecordConditionsProps) {
  const rows = (draft.rows ?? {}) as Draft
  const granted = grantedNames(draft, 'record_types')
  const types = Object.keys(registry.primary_identifiers).filter((type) => isGrantedName(granted, type) || type in rows)
  return (
    <fieldset className={styles.names}>
      <legend>{TEXTS.label}</legend>
      {types.map((type) => (
        <TypeConditions
          key={type}
          type={type}
          // An age changes from day to day: the server takes no condition on it.
          attributes={registry.attributes.filter((row) => row.record_type === type && row.type !== 'age')}
          expression={rows[type]}
          onChange={(expression) => {
            const next = withMember(rows, type, expression)
            onChange(Object.keys(next).length === 0 ? undefined : next)
          }}
        />
      ))}
    </fieldset>
  )
}

interface TypeConditionsProps {
  readonly type: string
  readonly attributes: Registry['attributes']
  /** The conditions as an expression; undefined: every record of the type. */
  readonly expression: unknown
  readonly onChange: (expression: unknown) => void
}

function TypeConditions({ type, attributes, expression, onChange }: TypeConditionsProps) {
  const [conditions, setConditions] = useFieldText(expression, readConditions)
  const types = new Map(attributes.map((row) => [row.name, row.type]))
  const first: Condition = { attribute: attributes[0]?.name ?? '', operator: '$eq', value: '' }
  const change = (next: readonly Condition[]) => {
    const changed = writeExpression(next, types)
    setConditions(next, changed)
    onChange(changed)
  }
  return (
    <>
      <Checkbox
        label={TEXTS.only(type)}
        checked={expression !== undefined}
        onChange={(event) => (event.currentTarget.checked ? change([first]) : onChange(undefined))}
      />
      {expression !== undefined && conditions !== null && (
        <Conditions attributes={attributes} conditions={conditions} onChange={change} />
      )}
      {expression !== undefined && conditions === null && (
        <div>
          <p className={styles.cut}>{TEXTS.more}</p>
          <pre className={styles.expression}>{jsonText(expression)}</pre>
          <Button variant="subtle" size="compact-sm" onClick={() => change([first])}>
            {TEXTS.again}
          </Button>
        </div>
      )}
    </>
  )
}
