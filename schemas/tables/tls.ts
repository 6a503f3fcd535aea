/**
 * Encryption of connections: TLS 1.3, or TLS 1.2 with ephemeral keys on elliptic curves and authenticated
 * encryption. Recorded traffic stays secret after a theft of a private key. Without DHE, no server makes a client
 * calculate with numbers of its choice, which takes up to a second.
 */
export const forwardSecret = {
  minVersion: 'TLSv1.2',
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
} as const
