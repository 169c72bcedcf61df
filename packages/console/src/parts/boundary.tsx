/** Catches the error of a page that failed, or whose files could not be loaded, and shows it in place of the page. */
import { Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './states.module.css'

/** Thrown when the files of a page did not come: the server does not answer, or has new files after an update. */
export class PageNotLoaded extends Error {
  override readonly name = 'NotLoaded'
}

interface Props {
  readonly children: ReactNode
}

interface State {
  readonly error: Error | null
}

export class Boundary extends Component<Props, State> {
  override state: State = { error: null }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    const texts = error instanceof PageNotLoaded ? COMMON.pageNotLoaded : COMMON.pageFailed
    return (
      <div className={styles.state} role="alert">
        <h1 className={styles.title}>{texts.title}</h1>
        <p className={styles.advice}>{texts.advice}</p>
        {error.message !== '' && <code className={styles.code}>{error.message}</code>}
        <Button onClick={() => location.reload()}>{COMMON.reload}</Button>
      </div>
    )
  }
}
