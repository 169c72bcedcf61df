/** The question before an act that is hard to take back, with a preview of what it will do. */
import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './confirm.module.css'

interface ConfirmProps {
  readonly opened: boolean
  readonly title: string
  /** What will happen, with its numbers. */
  readonly children: ReactNode
  /** The word on the button: the act, not "OK". */
  readonly act: string
  readonly danger?: boolean
  /** It is being done. */
  readonly busy?: boolean
  /** Not before something is filled in, or before the preview is here. */
  readonly disabled?: boolean
  /** @param given what was filled in */
  readonly onConfirm: (given: FormData) => void
  readonly onClose: () => void
}

export function Confirm(props: ConfirmProps) {
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
