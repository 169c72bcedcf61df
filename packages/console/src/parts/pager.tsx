/** Buttons through a list that the server pages: to older rows, and back to the newest. */
import { Button } from '@mantine/core'
import { IconArrowBarToUp, IconChevronRight } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './pager.module.css'
import type { Filter } from './use-filter.ts'

interface PagerProps {
  readonly filter: Filter
  /** The value of the filter `before` for the next page of the list; null on the last page. */
  readonly next: string | null | undefined
  /** A note about the shown page of the list. */
  readonly children?: ReactNode
}

/** Links to the older rows of a list and to its newest; nothing when one page has all rows. */
export function Pager({ filter, next, children }: PagerProps) {
  const { before } = filter.values
  if (before === undefined && (next === null || next === undefined)) return null
  return (
    <nav className={styles.pager} aria-label={COMMON.pages}>
      {children && <p className={styles.note}>{children}</p>}
      <Button
        variant="default"
        size="compact-sm"
        disabled={before === undefined}
        leftSection={<IconArrowBarToUp size={14} aria-hidden />}
        onClick={() => filter.set({ before: undefined })}
      >
        {COMMON.newest}
      </Button>
      <Button
        variant="default"
        size="compact-sm"
        disabled={next === null || next === undefined}
        rightSection={<IconChevronRight size={14} aria-hidden />}
        onClick={() => filter.set({ before: next ?? undefined })}
      >
        {COMMON.older}
      </Button>
    </nav>
  )
}
