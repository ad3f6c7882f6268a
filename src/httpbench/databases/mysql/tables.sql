CREATE DATABASE hello_world CHARACTER SET utf8mb4;

USE hello_world;

CREATE TABLE world (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, randomNumber int NOT NULL DEFAULT 0) ENGINE = InnoDB;

INSERT INTO world SELECT seq, 1 + CONV(SUBSTR(MD5(CONCAT('httpbench ', seq)), 1, 8), 16, 10) % 10000 FROM seq_1_to_10000;

CREATE TABLE fortune (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, message varchar(2048) NOT NULL) ENGINE = InnoDB;

INSERT INTO fortune VALUES
    (1, 'fortune: No such file or directory'),
    (2, 'A computer scientist is someone who fixes things that aren''t broken.'),
    (3, 'After enough decimal places, nobody gives a damn.'),
    (4, 'A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1'),
    (5, 'A computer program does what you tell it to do, not what you want it to do.'),
    (6, 'Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen'),
    (7, 'Any program that runs right is obsolete.'),
    (8, 'A list is only as strong as its weakest link. — Donald Knuth'),
    (9, 'Feature: A bug with seniority.'),
    (10, 'Computers make very fast, very accurate mistakes.'),
    (11, '<script>alert("This should not be displayed in a browser alert box.");</script>'),
    (12, 'フレームワークのベンチマーク');

-- The administrator uses the socket in the data folder. Only the benchmark's user can log in over the network.
DELETE FROM mysql.global_priv WHERE user NOT IN ('root', 'mariadb.sys') OR host <> 'localhost';

FLUSH PRIVILEGES;

CREATE USER benchmarkdbuser IDENTIFIED BY 'benchmarkdbpass';

GRANT ALL PRIVILEGES ON hello_world.* TO benchmarkdbuser;
