/** A dialog that asks before an act, with a preview of the act or fields for it. */
import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './confirm.module.css'

interface ConfirmProps {
  readonly opened: boolean
  readonly title: string
  /** The preview of the act, and its fields. */
  readonly children: ReactNode
  /** The word on the button: the act, not "OK". */
  readonly act: string
  readonly danger?: boolean
  /** True while the act is running. */
  readonly busy?: boolean
  /** True while a field must be filled in first, or the preview is not loaded. */
  readonly disabled?: boolean
  /** Called when the reader confirms. @param given the values of the fields */
  readonly onConfirm: (given: FormData) => void
  readonly onClose: () => void
}

export function ConfirmDialog(props: ConfirmProps) {
  const { opened, title, children, act, danger = false, busy = false, disabled = false } = props
  return (
    <Modal opened={opened} onClose={props.onClose} title={title} closeButtonProps={{ 'aria-label': COMMON.close }}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          props.onConfirm(new FormData(event.currentTarget))
        }}
      >
        {children}
        <div className={styles.actions}>
          <Button variant="default" onClick={props.onClose}>
            {COMMON.cancel}
          </Button>
          <Button type="submit" color={danger ? 'red' : 'accent'} loading={busy} disabled={disabled}>
            {act}
          </Button>
        </div>
      </form>
    </Modal>
  )
}
