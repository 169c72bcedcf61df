/** Things side by side, where there is room; one below the other on a phone. */
import type { ReactNode } from 'react'
import styles from './columns.module.css'

export const Columns = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.columns}>{children}</div>
)
