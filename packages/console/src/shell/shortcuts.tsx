/** Keyboard shortcuts and their list. Readers can turn them off, because speech input makes keys from words. */
import { Modal, Switch } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useEffect } from 'react'
import { useLocation } from 'wouter'
import type { NavigationRow } from '../navigation.ts'
import { COMMON } from '../texts/common.ts'
import { SHELL } from '../texts/shell.ts'
import { createShortcutReader } from './keys.ts'
import styles from './shell.module.css'

interface ShortcutsProps {
  readonly rows: readonly NavigationRow[]
  readonly opened: boolean
  readonly onOpen: () => void
  readonly onClose: () => void
}

/** Milliseconds for which the second of two keys is awaited. */
const SECOND_KEY_WAIT_MS = 1_500

export function Shortcuts({ rows, opened, onOpen, onClose }: ShortcutsProps) {
  const [isOn, setOn] = useLocalStorage({ key: 'rollcall-shortcuts', defaultValue: true })
  const [, navigate] = useLocation()
  useEffect(() => {
    if (!isOn) return
    const read = createShortcutReader(SECOND_KEY_WAIT_MS)
    const press = (event: KeyboardEvent) => {
      if (isNoShortcut(event)) return
      const keys = read(event.key, event.timeStamp)
      const row = rows.find(({ menu }) => menu !== null && keys === `g ${menu.key}`)
      if (row !== undefined) navigate(row.path)
      else if (keys === '?') onOpen()
      else if (keys === '/') document.querySelector<HTMLElement>('[data-search]')?.focus()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [isOn, rows, navigate, onOpen])
  const shortcutRows = [
    ...rows.flatMap(({ title, menu }) => (menu === null ? [] : [[`g ${menu.key}`, title] as const])),
    ['/', SHELL.shortcutSearch] as const,
    ['?', SHELL.shortcutHelp] as const,
  ]
  return (
    <Modal opened={opened} onClose={onClose} title={SHELL.shortcuts} closeButtonProps={{ 'aria-label': COMMON.close }}>
      <p className={styles.shortcutsLead}>{SHELL.shortcutsLead}</p>
      <dl className={styles.shortcuts}>
        {shortcutRows.map(([keys, title]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
      <Switch label={SHELL.shortcutsOn} checked={isOn} onChange={(event) => setOn(event.currentTarget.checked)} />
    </Modal>
  )
}

/** True when a key is not a shortcut: in a field, in a dialog, or in a key combination of the browser. */
function isNoShortcut({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || !(target instanceof HTMLElement)) return true
  return target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null
}
