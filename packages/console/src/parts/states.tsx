/** Parts that are shown in place of content: while it is loaded, when there is none, or after an error. */
import { Button } from '@mantine/core'
import { IconAlertTriangle, IconInbox } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ApiFault } from '../api/fault.ts'
import { useMay } from '../session/session.ts'
import { COMMON } from '../texts/common.ts'
import type { NextStepLink } from '../texts/steps.ts'
import styles from './states.module.css'

interface EmptyProps {
  readonly title: string
  /** Advice to the reader, below the title. */
  readonly children?: ReactNode
  /** A link to the page where the first content is made. */
  readonly next?: NextStepLink
}

export function Empty({ title, children, next }: EmptyProps) {
  return (
    <div className={styles.state}>
      <IconInbox className={styles.icon} aria-hidden stroke={1.5} size={28} />
      <p className={styles.title}>{title}</p>
      {children !== undefined && <div className={styles.advice}>{children}</div>}
      {next !== undefined && <NextStep {...next} />}
    </div>
  )
}

/** A link to the next step, for operators who have the role. */
function NextStep({ to, text, role }: NextStepLink) {
  const may = useMay()
  return may(role) && <a href={`#${to}`}>{text}</a>
}

export const NoMatch = () => <Empty title={COMMON.noMatch}>{COMMON.noMatchAdvice}</Empty>

interface FaultProps {
  readonly error: Error
  readonly title?: string
  readonly retry?: () => void
}

/** Shows the error messages of the server as they are. */
export function Fault({ error, title = COMMON.notAnswered, retry }: FaultProps) {
  return (
    <div className={styles.state} role="alert">
      <IconAlertTriangle className={styles.bad} aria-hidden stroke={1.5} size={28} />
      <p className={styles.title}>{title}</p>
      <FaultLines error={error} />
      {retry !== undefined && (
        <Button variant="default" onClick={retry}>
          {COMMON.retry}
        </Button>
      )}
    </div>
  )
}

export function FaultLines({ error }: { readonly error: Error }) {
  const lines = error instanceof ApiFault ? error.errors : [{ code: error.name, message: error.message }]
  return (
    <ul className={styles.lines}>
      {lines.map(({ code, message }) => (
        <li key={`${code} ${message}`}>
          <bdi>{message}</bdi> <code className={styles.code}>{code}</code>
        </li>
      ))}
    </ul>
  )
}

/** Shows grey lines while text is loaded. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className={styles.skeleton} role="status" aria-label={COMMON.loading}>
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <span key={at} className={styles.line} />
      ))}
    </div>
  )
}

/** The members of a query's state that `ReloadFailedNotice` and `Loaded` read. */
interface LoadedQuery<Data> {
  readonly data: Data | undefined
  readonly error: Error | null
  readonly refetch: () => unknown
}

/** A notice that a reload failed: readers must not take the data for the present state. */
export function ReloadFailedNotice({ query: { data, error, refetch } }: { readonly query: LoadedQuery<unknown> }) {
  if (data === undefined || error === null) return null
  return (
    <p className={styles.outdated} role="status">
      {COMMON.outdated}{' '}
      <Button variant="subtle" size="compact-sm" onClick={() => void refetch()}>
        {COMMON.retry}
      </Button>
    </p>
  )
}

interface LoadedProps<Data> {
  readonly query: LoadedQuery<Data>
  readonly lines?: number
  readonly children: (data: Data) => ReactNode
}

/** A page for an address that names something that does not exist, or not any more. Trying again does not help. */
const NotThere = ({ error }: { readonly error: ApiFault }) => (
  <Empty title={COMMON.gone}>
    <p className={styles.why}>{COMMON.goneAdvice}</p>
    <FaultLines error={error} />
  </Empty>
)

/** Shows data as soon as they are loaded. The data stay in view while they are loaded again. */
export function Loaded<Data>({ query, lines = 4, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) {
    return (
      <>
        <ReloadFailedNotice query={query} />
        {children(data)}
      </>
    )
  }
  if (error === null) return <Skeleton lines={lines} />
  if (error instanceof ApiFault && error.status === 404) return <NotThere error={error} />
  return <Fault error={error} retry={() => void refetch()} />
}
