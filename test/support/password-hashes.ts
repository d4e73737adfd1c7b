// Hashes of passwords that other programs made.

/** Hashes of `secret`, by what made them. */
export const secretHashes = {
  /** `htpasswd -nbB -C 5`. */
  bcrypt: '$2y$05$be3HNIa1X6yfSHyD8WXsd.hGsAdslpabsyaEvtwZfvUQghcXq72kW',
  /** `openssl passwd -6`. */
  sha512Crypt:
    '$6$AqNiPPuICLzy99et$PjBPxWmDEJN2slR8.kiGQ/2urn2G0QS/kj41QclOQIjjZDqLKbL6k9BUiD3HgQGuylhrNWBXQo7fap.GgX2eo0',
  /** PasswordHasher of argon2-cffi. */
  argon2id: '$argon2id$v=19$m=1024,t=2,p=2$+UEVKJBbDHiiN1gkVx7D+w$0JmBUckno39gCFBEuZdo5yUYv7OCHAL/P/0RjuX6uHA',
  /** scrypt of passlib. */
  scrypt: '$scrypt$ln=10,r=8,p=1$ZIwRIoQQIqQ0plSq1TqnNA$qhDujfojziNoHxN+ydQfRQkoGqqdQpeK3rz2HVdpRr4',
} as const;

/** `htpasswd -nbB -C 6` of `päss wörd`. */
export const umlautHash = '$2y$06$kWIiBNeLVoj34.M1oEx47uc6OWZB9rTCmWgDtpzCDCS4WmL6dhmo.';

/** Lines of htpasswd whose hashes are too fast. */
export const weakLines = {
  MD5: 'u:$apr1$PVj1Aa5w$3fqomgCZa15YdSVPNPXu61',
  'SHA-1': 'u:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=',
  DES: 'u:.0rnT8vKMPIhE',
  'SHA-256-crypt': 'u:$5$xI.7EIa6B8WV1ik5$sS5Z4.s47LlmAdATSuAcVmudaXKD1.HPEBZZD.jZX93',
  'plain text': 'u:secret',
} as const;
