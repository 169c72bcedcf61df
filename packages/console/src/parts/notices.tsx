/** Short notices about acts, also for screen readers. They disappear after a while, and when the page is left. */
import { CloseButton } from '@mantine/core'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './notices.module.css'

/** Milliseconds for which a notice is shown. */
const SHOWN_MS = { good: 8_000, info: 60_000, bad: 60_000 } as const

interface Notice {
  readonly number: number
  readonly content: ReactNode
  /** The tone decides the colour and how long the notice is shown. `info`: the notice has a link to follow. */
  readonly tone: keyof typeof SHOWN_MS
  /** The address of the page on which the notice was made. */
  readonly at: string
}

type ShowNotice = (content: ReactNode, tone?: Notice['tone']) => void

const NoticeContext = createContext<ShowNotice>(() => {})

export const useNotify = (): ShowNotice => useContext(NoticeContext)

/** The most notices at a time: older ones are removed. */
const MOST_NOTICES = 3
let lastNumber = 0

export function Notices({ children }: { readonly children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([])
  const notify = useCallback<ShowNotice>((content, tone = 'good') => {
    lastNumber += 1
    const notice = { number: lastNumber, content, tone, at: location.hash }
    setNotices((before) => [...before, notice].slice(-MOST_NOTICES))
  }, [])
  const close = useCallback((number: number) => setNotices((before) => before.filter((notice) => notice.number !== number)), [])
  useEffect(() => {
    const removeNoticesOfOtherPages = () => setNotices((before) => before.filter(({ at }) => at === location.hash))
    addEventListener('hashchange', removeNoticesOfOtherPages)
    return () => removeEventListener('hashchange', removeNoticesOfOtherPages)
  }, [])
  const shown = useMemo(() => children, [children])
  return (
    <NoticeContext value={notify}>
      {shown}
      <div className={styles.area} role="status" aria-live="polite">
        {notices.map((notice) => (
          <OneNotice key={notice.number} notice={notice} close={close} />
        ))}
      </div>
    </NoticeContext>
  )
}

interface OneNoticeProps {
  readonly notice: Notice
  readonly close: (number: number) => void
}

function OneNotice({ notice: { number, content, tone }, close }: OneNoticeProps) {
  useEffect(() => {
    const timer = setTimeout(() => close(number), SHOWN_MS[tone])
    return () => clearTimeout(timer)
  }, [number, tone, close])
  return (
    <div className={styles.notice} data-tone={tone}>
      <div>{content}</div>
      <CloseButton aria-label={COMMON.close} onClick={() => close(number)} />
    </div>
  )
}
