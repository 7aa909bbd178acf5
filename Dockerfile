# The page on any host that runs containers: docker build --tag craqan . && docker run --publish 7860:7860 craqan
# It needs no secret, no volume and no network; --read-only works with --tmpfs /tmp.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 \
    GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=7860 HOME=/tmp

WORKDIR /app
COPY requirements.txt constraints.txt ./
RUN pip install --constraint constraints.txt --requirement requirements.txt "gradio[oauth,mcp]"

COPY app.py craqan.py ./
COPY generation ./generation
COPY evaluation ./evaluation
COPY space ./space
COPY prompts ./prompts
COPY data ./data
COPY docs ./docs

RUN useradd --uid 1000 --no-create-home visitor
USER visitor
EXPOSE 7860
HEALTHCHECK --start-period=60s --timeout=5s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/health', timeout=4)"]
CMD ["python", "app.py"]
