# Set $settings: the server's options, given on its command line so that no file on the machine can change them. The options match
# TechEmpower's where they affect the cost of a query. The data of a trial is thrown away, so the server never waits for a disk.
settings="--no-defaults --lower-case-table-names=1 --character-set-server=utf8mb4 --skip-name-resolve --skip-log-bin --performance-schema=OFF
    --max-connections=2000 --back-log=2000 --max-prepared-stmt-count=1048576 --innodb-buffer-pool-size=256M --innodb-log-file-size=32M
    --innodb-flush-method=nosync --innodb-flush-log-at-trx-commit=2 --innodb-fast-shutdown=2"
