/** Fields for conditions on attributes: each has an attribute, an operator and a value. */
import { ActionIcon, Button, NativeSelect, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { TRY } from '../texts/try.ts'
import styles from './conditions.module.css'
import { type Condition, OPERATORS, type OperatorName } from './expression.ts'

interface ConditionsProps {
  /** The registry's attributes. */
  readonly attributes: readonly { readonly name: string }[]
  readonly conditions: readonly Condition[]
  readonly onChange: (conditions: readonly Condition[]) => void
}

const { fields: FIELDS } = TRY
const OPERATOR_NAMES = Object.keys(OPERATORS) as OperatorName[]

export function Conditions({ attributes, conditions, onChange }: ConditionsProps) {
  const change = (at: number, changes: Partial<Condition>) =>
    onChange(conditions.map((one, index) => (index === at ? { ...one, ...changes } : one)))
  const add = () => onChange([...conditions, { attribute: attributes[0]?.name ?? '', operator: '$eq', value: '' }])
  return (
    <fieldset className={styles.conditions}>
      <legend className={styles.legend}>{TRY.conditions}</legend>
      {conditions.map((condition, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a condition is its place
        <fieldset key={at} className={styles.condition} aria-label={TRY.conditionAt(at + 1)}>
          <NativeSelect
            label={FIELDS.attribute}
            data={attributes.map(({ name }) => name)}
            value={condition.attribute}
            onChange={(event) => change(at, { attribute: event.currentTarget.value })}
          />
          <NativeSelect
            label={FIELDS.operator}
            data={OPERATOR_NAMES.map((value) => ({ value, label: TRY.operators[value] }))}
            value={condition.operator}
            onChange={(event) => change(at, { operator: event.currentTarget.value as OperatorName })}
          />
          {OPERATORS[condition.operator].read !== null && (
            <TextInput
              label={FIELDS.operand}
              autoComplete="off"
              spellCheck={false}
              required
              withAsterisk={false}
              value={condition.value}
              onChange={(event) => change(at, { value: event.currentTarget.value })}
            />
          )}
          {conditions.length > 1 && (
            <ActionIcon
              className={styles.remove}
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={TRY.removeCondition(at + 1)}
              onClick={() => onChange(conditions.filter((_, index) => index !== at))}
            >
              <IconX size={16} aria-hidden />
            </ActionIcon>
          )}
        </fieldset>
      ))}
      <div>
        <Button variant="subtle" size="compact-sm" leftSection={<IconPlus size={14} aria-hidden />} onClick={add}>
          {TRY.addCondition}
        </Button>
      </div>
    </fieldset>
  )
}
