/** Names that are granted: all that there are, or those that are ticked. */
import { Checkbox } from '@mantine/core'
import { GRANT } from '../../texts/grants.ts'
import { has, type Names, toggled } from './draft.ts'
import styles from './grant.module.css'

interface NameListProps {
  readonly label: string
  readonly known: readonly string[]
  readonly names: Names
  /** Whether all that there are can be granted, of later versions too. */
  readonly withAll?: boolean
  readonly onChange: (names: Names) => void
}

export function NameList({ label, known, names, withAll = false, onChange }: NameListProps) {
  // What is granted stays where the registry has another name for it.
  const shown = [...new Set([...known, ...(names === 'all' ? [] : names)])]
  if (shown.length === 0) return null
  return (
    <fieldset className={styles.names}>
      <legend className={styles.legend}>{label}</legend>
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
              checked={has(names, name)}
              onChange={() => onChange(toggled(names, name, shown))}
            />
          ))}
        </div>
      )}
    </fieldset>
  )
}
