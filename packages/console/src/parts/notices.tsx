/** Short messages about what was done; screen readers hear them. */
import { CloseButton } from '@mantine/core'
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './notices.module.css'

interface Notice {
  readonly number: number
  readonly content: ReactNode
  readonly tone: 'good' | 'bad'
}

type Notify = (content: ReactNode, tone?: Notice['tone']) => void

const NoticeContext = createContext<Notify>(() => {})

export const useNotify = (): Notify => useContext(NoticeContext)

/** The older ones go. */
const MOST = 3
let last = 0

export function Notices({ children }: { readonly children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const notify = useCallback<Notify>((content, tone = 'good') => {
    last += 1
    const notice = { number: last, content, tone }
    setNotices((before) => [...before, notice].slice(-MOST))
  }, [])
  const close = (number: number) =>
    setNotices((before) => before.filter((notice) => notice.number !== number))
  const shown = useMemo(() => children, [children])
  return (
    <NoticeContext value={notify}>
      {shown}
      <div className={styles.area} role="status" aria-live="polite">
        {notices.map(({ number, content, tone }) => (
          <div key={number} className={styles.notice} data-tone={tone}>
            <div>{content}</div>
            <CloseButton aria-label={COMMON.close} onClick={() => close(number)} />
          </div>
        ))}
      </div>
    </NoticeContext>
  )
}
