import { getSystemErrorMessage } from 'node:util'

/** Why the system refused something, such as `no such file or directory`. */
export const systemReason = ({ errno, code }: NodeJS.ErrnoException): string =>
  errno === undefined ? String(code) : getSystemErrorMessage(errno)
