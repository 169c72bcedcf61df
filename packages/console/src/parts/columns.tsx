/** Shows parts side by side where there is room, otherwise one below the other. */
import type { ReactNode } from 'react'
import styles from './columns.module.css'

export const SideBySide = ({ children }: { readonly children: ReactNode }) => <div className={styles.columns}>{children}</div>
