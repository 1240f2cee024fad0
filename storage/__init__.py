"""Everything that stays on disk: vault, journal, blobs, ledger, snapshots, locks."""
