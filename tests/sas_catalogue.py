"""A catalogue of labels of SAS, which no library of Python writes."""

from base64 import b85decode
from pathlib import Path
from zlib import decompress

# as ReadStat writes one: SEXF names 1 Female and 2 Mäle; of 270,336 bytes, nearly all are 0
_CATALOGUE = (
    "c-pJD_4b0TcXXfx!-L{p(Yqo>JHAdj7xzxl?1tf$B^-hWXCGWEGEr&EU6<?U-d?&i|ABo$fsm_a-"
    "?}_m?zu957}auvFR#vYyi+4*v1gC`_r2}HhqgYJe}Db^D&uta`Ra$SWd5=ET~W0xj(cmAk=W#T<*Nc(C*!|XeOe;7>"
    "gt5BNeAaGid^z`sbBWSo4I0Z^Q^pn^grMG-dbD#(&zP)=YQM2-"
    "<191u?OdUJtg#~&QJYWBR741nc4l^w>(#0N1oYSqj$`0-"
    "q9IHKkb^^dhGPEKc)Bnzn{*(UY|YvO0D}neg^7*2XbplyRO#B{GaQ8zw&a|aTbOF1P$!3f7|bN&0ahAThBZR?W4cVt"
    "G(ZTSaip?ZI}Dfmz@{xRs4Q+_SpPGi#OD4vYx_BnPoN-;Y)q(y#bxwod*"
)


def write_catalogue(path: Path) -> None:
    """Write one whose format SEXF names 1 and 2."""
    path.write_bytes(decompress(decompress(b85decode(_CATALOGUE))))
