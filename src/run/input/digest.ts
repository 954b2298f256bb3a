/** The digest by which the record names texts: SHA-256, in hexadecimal. */
import { hash } from 'node:crypto'

export function digestOf(text: string): string {
  return hash('sha256', text)
}
