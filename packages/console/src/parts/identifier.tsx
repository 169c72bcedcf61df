/** Shows an id that can be copied. A long id is cut on the page, and copied whole. */
import { ActionIcon, CopyButton } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { COMMON } from '../texts/common.ts'
import styles from './identifier.module.css'

interface CopyableIdProps {
  readonly value: string | null | undefined
  /** The meaning of the id, for screen readers. */
  readonly what: string
  /** An address within the console to which the id links. */
  readonly to?: string
}

export function CopyableId({ value, what, to }: CopyableIdProps) {
  if (value === null || value === undefined) return <span className={styles.none}>{COMMON.none}</span>
  return (
    <span className={styles.id}>
      {to === undefined ? (
        <code className={styles.text} title={value}>
          {value}
        </code>
      ) : (
        <a className={styles.text} href={`#${to}`} title={value}>
          <code>{value}</code>
        </a>
      )}
      <CopyValue value={value} what={what} />
    </span>
  )
}

export function CopyValue({ value, what }: { readonly value: string; readonly what: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <ActionIcon
          className={styles.copy}
          variant="subtle"
          color="gray"
          size="sm"
          onClick={copy}
          aria-label={copied ? COMMON.copied : COMMON.copyOf(what)}
        >
          {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
        </ActionIcon>
      )}
    </CopyButton>
  )
}
