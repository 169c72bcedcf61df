/** What is shown instead of a page that has failed: a fault of the console. */
import { Button } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { COMMON } from '../texts/common.ts'
import styles from './states.module.css'

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
    return (
      <div className={styles.state} role="alert">
        <p className={styles.title}>{COMMON.crashed}</p>
        <p className={styles.advice}>{COMMON.crashedAdvice}</p>
        <code className={styles.code}>{error.message}</code>
        <Button onClick={() => location.reload()}>{COMMON.reload}</Button>
      </div>
    )
  }
}
