/** A group of boxes for granted names: all, or the ticked ones. */
import { Checkbox, Textarea } from '@mantine/core'
import { GRANT } from '../../texts/grants.ts'
import { type GrantedNames, isGrantedName, toggleName } from './draft.ts'
import styles from './grant.module.css'
import { useFieldText } from './use-typed.ts'

interface GrantNameCheckboxesProps {
  readonly label: string
  readonly known: readonly string[]
  readonly names: GrantedNames
  /** Adds a box for "all", which also grants names that a later version of the server adds. */
  readonly withAll?: boolean
  readonly onChange: (names: GrantedNames) => void
}

export function GrantNameCheckboxes({ label, known, names, withAll = false, onChange }: GrantNameCheckboxesProps) {
  // A granted name is shown even if the registry does not know it any more.
  const shown = [...new Set([...known, ...(names === 'all' ? [] : names)])]
  if (shown.length === 0) return null
  return (
    <fieldset className={styles.names}>
      <legend>{label}</legend>
      {withAll && (
        <Checkbox
          label={GRANT.edit.everything}
          checked={names === 'all'}
          onChange={() => onChange(names === 'all' ? known : 'all')}
        />
      )}
      {names !== 'all' && (
        <div className={styles.boxes}>
          {shown.map((name) => (
            <Checkbox
              key={name}
              label={name}
              checked={isGrantedName(names, name)}
              onChange={() => onChange(toggleName(names, name, shown))}
            />
          ))}
        </div>
      )}
    </fieldset>
  )
}

interface GrantNamesTextFieldProps extends Omit<GrantNameCheckboxesProps, 'known'> {
  /** Advice to the reader about the names to type. */
  readonly note: string
}

/** A field for names that are not known beforehand, one on each line, with a box for all. */
export function GrantNamesTextField({ label, note, names, withAll = false, onChange }: GrantNamesTextFieldProps) {
  const [typed, setTyped] = useFieldText(names, (listed) => (listed === 'all' ? '' : listed.join('\n')))
  const write = (text: string) => {
    const listed = [...new Set(text.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
    setTyped(text, listed)
    onChange(listed)
  }
  return (
    <fieldset className={styles.names}>
      <legend>{label}</legend>
      {withAll && (
        <Checkbox
          label={GRANT.edit.everything}
          checked={names === 'all'}
          onChange={() => onChange(names === 'all' ? [] : 'all')}
        />
      )}
      {names !== 'all' && (
        <Textarea
          aria-label={label}
          description={note}
          rows={2}
          spellCheck={false}
          autoComplete="off"
          value={typed}
          onChange={(event) => write(event.currentTarget.value)}
        />
      )}
    </fieldset>
  )
}
