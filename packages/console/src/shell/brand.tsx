import { COMMON } from '../texts/common.ts'
import styles from './shell.module.css'

/** Shows the logo and the name of the product. */
export function Brand({ demo = false }: { readonly demo?: boolean }) {
  return (
    <span className={styles.brand}>
      <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
        <title>{COMMON.product}</title>
        <rect width="32" height="32" rx="8" className={styles.mark} />
        <path d="M9 10.5h9M9 16h14M9 21.5h6" className={styles.stroke} />
        <path d="m18.5 21.5 2.2 2.2 4-4.4" className={styles.stroke} />
      </svg>
      <span className={styles.name}>{COMMON.product}</span>
      {demo && <span className={styles.demo}>{COMMON.demo}</span>}
    </span>
  )
}
