/** A dialog that shows a new secret once, until the reader closes it. */
import { Button, Modal } from '@mantine/core'
import { COMMON } from '../texts/common.ts'
import { CopyValue } from './identifier.tsx'
import styles from './secret.module.css'

interface SecretProps {
  readonly title: string
  /** The kind of secret in words, such as "client secret". */
  readonly what: string
  /** The secret; null when there is none to show. */
  readonly value: string | null
  readonly onClose: () => void
}

export function SecretShownOnce({ title, what, value, onClose }: SecretProps) {
  return (
    <Modal
      opened={value !== null}
      onClose={onClose}
      title={title}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <p className={styles.lead}>{COMMON.secretOnce}</p>
      <div className={styles.secret}>
        <code className={styles.value}>{value}</code>
        {value !== null && <CopyValue value={value} what={what} />}
      </div>
      <Button fullWidth mt="md" onClick={onClose}>
        {COMMON.secretStored}
      </Button>
    </Modal>
  )
}
