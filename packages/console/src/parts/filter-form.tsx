/** The form with the conditions of a list. They apply when the form is sent. */
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useId } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './filter-form.module.css'
import { findShortcutField, isoTimeOf, localTimeOf } from './filters.ts'
import type { Filter } from './use-filter.ts'

export interface FilterField {
  /** The name of the condition, in `Filter.values` and in the address of the page. */
  readonly name: string
  readonly label: string
  /** Choices of a list; without them the field is a text. */
  readonly options?: readonly string[]
  /** For a choice: one word is always chosen, at first the first one. */
  readonly required?: true
  /** True for a field that takes a time in the reader's zone. */
  readonly time?: true
  /** True for a field that is shown only under "more conditions". */
  readonly more?: true
}

interface FormProps {
  readonly fields: readonly FilterField[]
  readonly filter: Filter
}

export function FilterForm({ fields, filter }: FormProps) {
  const shown = fields.filter((field) => !field.more)
  const more = fields.filter((field) => field.more)
  const search = findShortcutField(shown)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const entries = fields.map(({ name, time }) => {
      const text = String(given.get(name) ?? '').trim()
      // A time field has minutes. One that was not changed keeps its seconds.
      if (time && text === localTimeOf(filter.values[name])) return [name, filter.values[name]] as const
      return [name, time ? isoTimeOf(text) : text || undefined] as const
    })
    filter.set(Object.fromEntries(entries))
  }
  // The form is made anew when the filter changes elsewhere, such as by a link.
  const key = JSON.stringify(fields.map(({ name }) => filter.values[name] ?? ''))
  return (
    <search>
      <form key={key} className={styles.form} onSubmit={submit}>
        <div className={styles.fields}>
          {shown.map((field) => (
            <Field key={field.name} field={field} filter={filter} isSearch={field === search} />
          ))}
          <div className={styles.actions}>
            <Button type="submit">{COMMON.search}</Button>
            {filter.isSet && (
              <Button variant="subtle" onClick={filter.clear}>
                {COMMON.clear}
              </Button>
            )}
          </div>
        </div>
        {more.length > 0 && (
          <details open={more.some(({ name }) => filter.values[name] !== undefined)}>
            <summary className={styles.more}>{COMMON.more}</summary>
            <div className={styles.fields}>
              {more.map((field) => (
                <Field key={field.name} field={field} filter={filter} />
              ))}
            </div>
          </details>
        )}
      </form>
    </search>
  )
}

interface FieldProps {
  readonly field: FilterField
  readonly filter: Filter
  /** True for the field to which the shortcut `/` leads. */
  readonly isSearch?: boolean
}

function Field({ field: { name, label, options, required, time }, filter, isSearch = false }: FieldProps) {
  const id = useId()
  const value = filter.values[name]
  const shared = { id, name, label, 'data-search': isSearch || undefined }
  if (options !== undefined) {
    // The value of the filter stays a choice while the options are still loading, or when the options lack it.
    const words = value === undefined || options.includes(value) ? options : [...options, value]
    const choices = words.map((one) => ({ value: one, label: one }))
    const data = required ? choices : [{ value: '', label: COMMON.all }, ...choices]
    // The key makes a new field when the choices change. Otherwise the browser would keep the chosen option's number, not its
    // text.
    return <NativeSelect key={words.join()} {...shared} data={data} defaultValue={value ?? data[0]?.value} />
  }
  if (time) return <TextInput {...shared} type="datetime-local" defaultValue={localTimeOf(value)} />
  return <TextInput {...shared} defaultValue={value ?? ''} autoComplete="off" spellCheck={false} />
}
