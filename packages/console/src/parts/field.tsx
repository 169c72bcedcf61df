/** A field of a form, described by an object (`DialogField`). What is entered is read when the form is sent. */
import { Checkbox, NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './field.module.css'
import { localTimeOf } from './filters.ts'

export interface DialogField {
  /** The sort of input; a line of text by default. A choice and a group of boxes need `options`. */
  readonly as?: keyof typeof INPUT_BY_FIELD_TYPE
  readonly name: string
  readonly label: string
  /** Advice to the reader about the input. */
  readonly note?: string
  readonly options?: readonly string[]
  readonly required?: boolean
  /** The value that the field has at first. */
  readonly value?: string | number | boolean | null
  /** For a group: the boxes that are ticked at first. */
  readonly ticked?: readonly string[]
  /** For a choice: the text of the option that chooses nothing. */
  readonly empty?: string
  /** The field is shown only for these values of other fields. */
  readonly when?: readonly { readonly field: string; readonly is: readonly string[] }[]
}

interface FieldInput extends Omit<DialogField, 'as' | 'when'> {
  readonly onChoice?: (value: string) => void
}

export const Field = ({ as = 'text', ...field }: FieldInput & Pick<DialogField, 'as'>) => INPUT_BY_FIELD_TYPE[as](field)

const makeSharedInputProps = ({ name, label, note, required = false }: FieldInput) => ({
  name,
  label,
  description: note,
  required,
  autoComplete: 'off',
  spellCheck: false,
})
const textOf = ({ value }: FieldInput) => (value === null || value === undefined ? '' : String(value))

const INPUT_BY_FIELD_TYPE = {
  text: (field) => <TextInput {...makeSharedInputProps(field)} defaultValue={textOf(field)} />,
  number: (field) => <TextInput {...makeSharedInputProps(field)} inputMode="decimal" defaultValue={textOf(field)} />,
  area: (field) => <Textarea {...makeSharedInputProps(field)} rows={4} defaultValue={textOf(field)} />,
  secret: (field) => <PasswordInput {...makeSharedInputProps(field)} autoComplete="new-password" />,
  date: (field) => <TextInput {...makeSharedInputProps(field)} type="date" />,
  time: (field) => <TextInput {...makeSharedInputProps(field)} type="datetime-local" defaultValue={localTimeOf(textOf(field))} />,
  flag: ({ name, label, note, value }) => (
    <Checkbox name={name} label={label} description={note} defaultChecked={value === true} />
  ),
  group: ({ name, label, note, options = [], ticked = [] }) => (
    <fieldset>
      <legend>{label}</legend>
      {note !== undefined && <p className={styles.note}>{note}</p>}
      <div className={styles.boxes}>
        {options.map((option) => (
          <Checkbox key={option} name={name} value={option} label={option} defaultChecked={ticked.includes(option)} />
        ))}
      </div>
    </fieldset>
  ),
  choice: (field) => {
    const { options = [], required = false, empty = COMMON.unchanged, onChoice } = field
    return (
      <NativeSelect
        {...makeSharedInputProps(field)}
        data={[...(required ? [] : [{ value: '', label: empty }]), ...options.map((one) => ({ value: one, label: one }))]}
        defaultValue={textOf(field)}
        onChange={(event) => onChoice?.(event.currentTarget.value)}
      />
    )
  },
} as const satisfies Readonly<Record<string, (field: FieldInput) => ReactNode>>
